-- renew: set the lease of an exclusive lock again.  Declares the lock alone:
-- in a cluster a slot that migrates refuses a script that names a missing key.
-- KEYS: 1 lock   ARGV: 1 token, 2 ttl in ms
-- Returns {0} renewed; {1, holder} held by somebody else; {2} nothing there;
-- {9} ask extend: there are nested runs; nothing was touched.
-- The "no" path writes what changes nothing, so that a replica can't answer
-- it.  p>=0, not p>0: PERSIST would make a lock permanent in its last ms.
local c=redis.call
local v=redis.pcall('GET',KEYS[1])
if v==ARGV[1] then c('PEXPIRE',KEYS[1],ARGV[2]) return {0} end
if type(v)=='table' and v.err:sub(1,9)~='WRONGTYPE' then return v end
if type(v)=='string' and v:sub(-7)=='/nested' then return {9} end
local p=c('PTTL',KEYS[1])
if p>=0 then c('PEXPIRE',KEYS[1],math.max(p,1)) else c('PERSIST',KEYS[1]) end
if type(v)=='string' then return {1,v} end
return {v and 1 or 2,''}
