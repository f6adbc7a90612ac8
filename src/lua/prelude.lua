-- prelude: what the full scripts share.  The build puts it in front of them.
-- KEYS: 1 lock, 2 queue, 3 holds
-- The queue is a sorted set: score = ticket (microseconds, unique, growing),
-- member = KIND N ':' TTL ':' ONCE ':' TOKEN.  A waiter listens on a channel
-- of its own, rlock: + the 32 hex digits of its token.
local L,Q,H=KEYS[1],KEYS[2],KEYS[3]
local call=redis.call
local GRANT,QTTL,BATCH=2000,120000,1000
local function int(x) return string.format('%.0f',x) end
-- After a pcall only WRONGTYPE is understood (second: true); all else is
-- raised by calling again: a missing right must not look like somebody's key.
local function try(...)
  local v=redis.pcall(...)
  if type(v)~='table' or not v.err then return v end
  if v.err:sub(1,9)=='WRONGTYPE' then return nil,true end
  return call(...)
end
-- The value of the lock, or false; second: true when it is no string.
local function holder() return try('GET',L) end
-- Milliseconds until the lock may change by itself; -1: never.
local function left()
  local p=call('PTTL',L)
  return p==-2 and 0 or p
end
local function channel(tok) return 'rlock:'..tok:sub(9,40) end
local function put(tok,ttl)
  call('SET',L,tok,'PX',ttl)
  call('DEL',H)
end
-- Serve the queue: drop waiters that are gone, hand a free lock to the first
-- that lives, and tell a new first one when to look.
--   me       the caller's entry or nil: not subscribed while its script runs,
--            but alive, and granted without a message with its whole ttl
--   changed  whether the first place or the lease changed before
-- Returns whether me was granted, whether PUBLISH was refused, and whether
-- there is more to serve: a step drops so many dead ones at most.
-- Liveness is asked before whether the lock is free, so that a dead first one
-- never hides the next; NUMSUB, since PUBLISH counts pattern subscribers too.
-- PUBLISH comes before the entry goes: refused means nothing has happened.
local function serve(me,ttl,changed)
  local mine,dropped=false,0
  while dropped<BATCH do
    local e=call('ZRANGE',Q,0,0)[1]
    if not e then return mine,false end
    local et,tok=e:match('^x0:(%d+):%d:(.*)$')
    local ch=tok and channel(tok)
    if not tok or e~=me and call('PUBSUB','NUMSUB',ch)[2]==0 then
      call('ZREM',Q,e)
      dropped=dropped+1
      if tok then redis.pcall('PUBLISH',ch,'look') end
      changed=true
    elseif holder() then
      if changed and e~=me then redis.pcall('PUBLISH',ch,'first:'..left()) end
      return mine,false
    elseif e==me then
      put(tok,ttl)
      call('ZREM',Q,e)
      mine,changed=true,true
    else
      local sent=redis.pcall('PUBLISH',ch,'grant')
      if type(sent)=='table' then return mine,true end
      call('ZREM',Q,e)
      put(tok,math.min(tonumber(et),GRANT))
      changed=true
    end
  end
  return mine,false,true
end
