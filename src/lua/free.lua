-- free: the release of an exclusive lock when nobody waits.  Fast path, no
-- prelude.
-- KEYS: 1 lock, 2 queue, 3 holds   ARGV: 1 token
-- Returns {0} released; {1, holder} held by somebody else; {2} nothing there;
-- {9} ask release: somebody waits or runs nested; nothing was touched.
-- DEL comes first: then a server that is out of memory lets it through, and
-- also on the "no" path, so that a replica can't answer it.
local c=redis.call
if c('EXISTS',KEYS[2],KEYS[3])>0 then return {9} end
local v=redis.pcall('GET',KEYS[1])
if v==ARGV[1] then c('DEL',KEYS[1]) return {0} end
if type(v)=='table' and v.err:sub(1,9)~='WRONGTYPE' then return v end
c('DEL',KEYS[2])
if type(v)=='string' then return {1,v} end
return {v and 1 or 2,''}
