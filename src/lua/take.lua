-- take: the uncontended acquire of an exclusive lock.  Fast path, no prelude.
-- KEYS: 1 lock, 2 queue, 3 holds   ARGV: 1 token, 2 ttl in ms
-- Returns {0} taken; {1, holder} held by somebody; {9} ask acquire: somebody
-- waits or runs nested, or what is at the lock is no string.
-- SET comes first, so that a server that is full or a replica refuses it.
local c=redis.call
if c('EXISTS',KEYS[2],KEYS[3])>0 then return {9} end
if c('SET',KEYS[1],ARGV[1],'NX','PX',ARGV[2]) then return {0} end
local v=redis.pcall('GET',KEYS[1])
if type(v)=='string' then return {1,v} end
return {9}
