-- extend: set the lease of a lock of any kind again.  Serves nobody.
-- prelude:yes
-- KEYS: 1 lock, and for nested runs 2 holds: a slot of a cluster that migrates
-- refuses a script that names a missing key.
-- ARGV: 1 token, 2 ttl in ms, 3 slot (as held)
-- Returns {0} renewed; {1, holder} held by somebody else; {2, ''} nothing there;
-- {9} there are nested runs: name their key too; nothing was touched.
-- The "no" path writes what changes nothing, as in renew.
H=KEYS[2]
if nested() and not H then return {9} end
local m=held(ARGV[1],ARGV[3])
if m then
  prolong(m,tonumber(ARGV[2]))
  return {0}
end
local p=call('PTTL',L)
if p>=0 then call('PEXPIRE',L,math.max(p,1)) else call('PERSIST',L) end
return {kind and 1 or 2,holder()}
