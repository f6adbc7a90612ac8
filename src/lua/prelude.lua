-- prelude: what the full scripts share.  The build puts it in front of them.
-- KEYS: 1 lock, 2 queue, 3 holds, 4 done, 5 fence
-- A kind is 'x0' exclusive, 's0' shared, 'jN' at most N at once.
-- The lock: a string, the token, or a sorted set of members 's0:TOKEN' or
-- 'jN:SLOT:TOKEN', score = end of that lease in ms of this server; a slot that
-- was given back stays as 'jN:SLOT:' with score 0.
-- Holds: a sorted set of the tokens of nested runs, the first one's included,
-- score = end of the lease; as long as it is there, the lock's value is one of
-- them with NEST behind it.
-- The queue: a sorted set, score = ticket (microseconds, unique, growing),
-- member, an entry = KIND ':' TTL ':' ONCE ':' TOKEN.  A waiter listens on a
-- channel of its own, rlock: + the 32 hex digits of its token.
local L,Q,H,D,F=KEYS[1],KEYS[2],KEYS[3],KEYS[4],KEYS[5]
local call=redis.call
local GRANT,QTTL,BATCH,NEST=2000,120000,1000,'/nested'
local function int(x) return string.format('%.0f',x) end
local time=call('TIME')
local now=time[1]*1000+math.floor(time[2]/1000)
-- After a pcall only WRONGTYPE is understood (second: true); all else is
-- raised by calling again: a missing right must not look like somebody's key.
local function try(...)
  local v=redis.pcall(...)
  if type(v)~='table' or not v.err then return v end
  if v.err:sub(1,9)=='WRONGTYPE' then return nil,true end
  return call(...)
end
local function channel(tok) return 'rlock:'..tok:sub(9,40) end
-- kind, TTL, '1' for --once, token; nil when it is no entry.
local function parse(e) return e:match('^([xsj]%d+):(%d+):(%d):(.*)$') end
-- What is at the lock: kind is false when nobody holds it, 'odd' when it is
-- not a lock; value is the string.
local kind,value
local function load()
  kind=false
  local v,set=try('GET',L)
  if v then kind,value='x0',v end
  if not set then return end
  local m=(try('ZRANGE',L,0,0) or {})[1] or ''
  local k=m:match('^(s0):rlock:1:')
  if not k then
    local rest
    k,rest=m:match('^(j[1-9]%d*):%d+:(.*)$')
    if k and rest~='' and rest:sub(1,8)~='rlock:1:' then k=nil end
  end
  kind=k or 'odd'
  -- All over: the key itself ends within this millisecond.
  if k and call('ZCOUNT',L,'('..int(now),'+inf')==0 then kind=false end
end
-- The first of what lives in the set: member and score.
local function first()
  local m=call('ZRANGEBYSCORE',L,'('..int(now),'+inf','WITHSCORES','LIMIT',0,1)
  return m[1],tonumber(m[2])
end
local function last(set)
  return tonumber(call('ZRANGE',set,-1,-1,'WITHSCORES')[2])
end
-- A token that holds it, '' when nobody does.
local function holder()
  if kind=='x0' then return value end
  if not kind or kind=='odd' then return '' end
  return first():match('rlock:1:.*$')
end
-- Milliseconds until the lock may change by itself; -1: never.
local function left()
  if not kind then return 0 end
  if kind=='s0' then return last(L)-now end
  if kind:sub(1,1)=='j' then
    local _,at=first()
    return at-now
  end
  local p=call('PTTL',L)
  return p==-2 and 0 or p
end
local function nested() return kind=='x0' and value:sub(-#NEST)==NEST end
local function lives(set,m)
  local at=call('ZSCORE',set,m)
  return at and tonumber(at)>now
end
local function member(k,tok,slot)
  return slot<0 and k..':'..tok or k..':'..int(slot)..':'..tok
end
local function slot_of(m) return tonumber(m:match('^j%d+:(%d+):') or -1) end
-- What of the lock belongs to tok now, or nil.  slot: its slot when it has
-- one, '-1' when it has none, '?' when it must be searched for.
local function held(tok,slot)
  if kind=='x0' then
    return (value==tok or nested() and lives(H,tok)) and tok
  elseif kind=='s0' then
    local m=member(kind,tok,-1)
    return lives(L,m) and m
  elseif kind and kind~='odd' then
    if slot~='?' then
      local m=member(kind,tok,tonumber(slot))
      return lives(L,m) and m
    end
    for _,m in ipairs(call('ZRANGEBYSCORE',L,'('..int(now),'+inf')) do
      if m:match('^j%d+:%d+:(.*)$')==tok then return m end
    end
  end
end
-- The set ends with its longest lease.
local function tidy()
  local top=last(L)
  if top and top>now then
    call('PEXPIREAT',L,int(top))
  else
    call('DEL',L)
    kind=false
  end
end
-- What is left of nested runs: one alone is the lock's value again.
local function settle()
  call('ZREMRANGEBYSCORE',H,'-inf',int(now))
  local h=call('ZRANGE',H,0,1)
  local top=last(H)
  if #h==0 then
    call('DEL',L)
    kind=false
    return
  end
  value=h[1]
  if #h==1 then
    call('DEL',H)
  else
    value=value..NEST
    call('PEXPIREAT',H,int(top))
  end
  call('SET',L,value,'PX',int(top-now))
end
-- Set the lease of m again; the first write is let through by a full server.
local function prolong(m,ttl)
  if nested() then
    call('PEXPIREAT',H,int(now+ttl))
    call('ZADD',H,int(now+ttl),m)
    settle()
  elseif kind=='x0' then
    call('PEXPIRE',L,ttl)
  else
    call('PEXPIREAT',L,int(now+ttl))
    call('ZADD',L,int(now+ttl),m)
    tidy()
  end
end
-- The slot that is free for one of kind k (-1: it needs none), and the member
-- in whose place it comes; nil: it has to wait.
local function room(k)
  if not kind then return k:sub(1,1)=='j' and 0 or -1 end
  if k~=kind or k=='x0' then return nil end
  if k=='s0' then return -1 end
  local m=call('ZRANGEBYSCORE',L,'-inf',int(now),'LIMIT',0,1)[1]
  if m then return slot_of(m),m end
  local n=call('ZCARD',L)
  if n<tonumber(k:sub(2)) then return n end
end
-- Who may not set an expiry must fail before anything is written.
local function put(k,tok,ttl,slot,old)
  if k=='x0' then
    call('SET',L,tok,'PX',ttl)
    call('DEL',H)
    value=tok
  else
    call('PEXPIREAT',L,int(now+ttl))
    if not kind then call('DEL',L) end
    if old then call('ZREM',L,old) end
    if k=='s0' then call('ZREMRANGEBYSCORE',L,'-inf',int(now)) end
    call('ZADD',L,int(now+ttl),member(k,tok,slot))
  end
  kind=k
  if k~='x0' then tidy() end
end
-- Take m of tok out.  cool: the place stays taken for so many ms, by nobody
-- who could use it.
local function drop(m,tok,cool)
  local cooling='rlock:1:cooling'..tok:sub(41)
  if nested() then
    call('ZREM',H,tok)
    if cool>0 then call('ZADD',H,int(now+cool),cooling) end
    settle()
  elseif kind=='x0' and cool>0 then
    value=cooling
    call('SET',L,value,'PX',int(cool))
  elseif kind=='x0' then
    call('DEL',L,H)
    kind=false
  else
    local slot=slot_of(m)
    -- Before ZREM: the set must not end in between, and its expiry with it.
    if slot>=0 then
      call('ZADD',L,cool>0 and int(now+cool) or 0,
        member(kind,cool>0 and cooling or '',slot))
    end
    call('ZREM',L,m)
    tidy()
  end
end
-- Serve the queue: drop waiters that are gone, hand what is free to the first
-- that live, and tell a new first one when to look.
--   me       the caller's entry or nil: not subscribed while its script runs,
--            but alive, and granted without a message with its whole ttl
--   changed  whether the first place or the lease changed before
-- Returns the slot that me was granted (-1: it needs none) or nil, whether
-- PUBLISH was refused, and whether there is more to serve: a step deals with
-- BATCH entries at most.
-- Liveness is asked before whether there is room, so that a dead first one
-- never hides the next; NUMSUB, since PUBLISH counts pattern subscribers too.
-- PUBLISH comes before the entry goes: refused means nothing has happened.
local function serve(me,changed)
  local mine
  for _=1,BATCH do
    local e=call('ZRANGE',Q,0,0)[1]
    if not e then return mine end
    local k,ttl,once,tok=parse(e)
    local ch=tok and channel(tok)
    if not tok or e~=me and call('PUBSUB','NUMSUB',ch)[2]==0 then
      call('ZREM',Q,e)
      if tok then redis.pcall('PUBLISH',ch,'look') end
    elseif once=='1' and call('EXISTS',D)==1 then
      if type(redis.pcall('PUBLISH',ch,'done'))=='table' then return mine,true end
      call('ZREM',Q,e)
    else
      local slot,old=room(k)
      if not slot then
        if changed and e~=me then redis.pcall('PUBLISH',ch,'first:'..int(left())) end
        return mine
      end
      if e==me then
        mine=slot
      else
        local grant=slot<0 and 'grant' or 'grant:'..int(slot)
        if type(redis.pcall('PUBLISH',ch,grant))=='table' then return mine,true end
        ttl=math.min(tonumber(ttl),GRANT)
      end
      call('ZREM',Q,e)
      put(k,tok,ttl,slot,old)
    end
    changed=true
  end
  -- Should the caller be killed before it asks again, the next one goes on.
  local e=call('ZRANGE',Q,0,0)[1]
  local _,_,_,tok=parse(e or '')
  if tok and e~=me then redis.pcall('PUBLISH',channel(tok),'first:0') end
  return mine,false,e~=nil
end
-- The same without me, step by step, to the end.
local function serve_all(changed)
  for _=1,100 do
    local _,refused,more=serve(nil,changed)
    if refused or not more then return refused end
    changed=true
  end
end
load()
