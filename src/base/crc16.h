/* SPDX-License-Identifier: MIT */
/*
 * crc16: the checksum by which Redis Cluster finds the slot of a key.
 */
#ifndef RLOCK_CRC16_H
#define RLOCK_CRC16_H

#include <stddef.h>
#include <stdint.h>

/* CRC-16/XMODEM: 0x1021, not reflected, from 0.  Source: "Redis cluster
 * specification", appendix A. */
uint16_t crc16_of(const void *data, size_t len);

#endif
