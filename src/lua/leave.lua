-- leave: the release of a shared lock, or of a slot, when nobody waits.  Fast
-- path, no prelude.
-- KEYS: 1 lock, 2 queue   ARGV: 1 member, 2 what stays in its place, or ''
-- Returns {0} released; {9} ask release: somebody waits, or it is not ours (any
-- more); nothing was touched.
-- DEL comes first, of the queue that is not there: then a server that is out of
-- memory lets the rest through, a replica refuses, and so does a user who may
-- not delete, before anything is written.  ZADD before ZREM: the set must not
-- end in between, and its expiry with it.
local c=redis.call
local s=redis.pcall('ZSCORE',KEYS[1],ARGV[1])
local t=c('TIME')
local now=t[1]*1000+math.floor(t[2]/1000)
if c('EXISTS',KEYS[2])>0 or type(s)~='string' or tonumber(s)<=now then return {9} end
c('DEL',KEYS[2])
if ARGV[2]~='' then c('ZADD',KEYS[1],0,ARGV[2]) end
c('ZREM',KEYS[1],ARGV[1])
local top=c('ZRANGE',KEYS[1],-1,-1,'WITHSCORES')[2]
if top and tonumber(top)>now then c('PEXPIREAT',KEYS[1],top) else c('DEL',KEYS[1]) end
return {0}
