/* SPDX-License-Identifier: MIT */
/*
 * cmd_doctor: --doctor, what makes locks unsafe on the servers of this run.
 */
#ifndef RLOCK_CMD_DOCTOR_H
#define RLOCK_CMD_DOCTOR_H

#include "top/cmd_run.h"
#include "words/config.h"

struct ending cmd_doctor(const struct config *);

#endif
