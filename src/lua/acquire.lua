-- acquire: take the lock, wait in line for it, or prove that it is ours.
-- prelude:yes
-- ARGV: 1 entry, 2 join (1: stay in the queue), 3 ticket or 0, 4 slot (as
-- held), 5 the tokens that we run under, blanks between, 6 fence (1: number it)
-- Returns
--   {0, waiting, slot or -1, fence or ''} ours, the full lease set now, so many
--     wait behind
--   {1, holder, left ms or -1, rank, ticket} held by somebody else
--   {3, marker} done within the time of --once
--   {64, kind} it would wait for a lock of that kind that we run under
--   {78, key} key has another type: nothing was touched
--   {79, kind} there is a lock of that kind, with which ours can't meet
-- Idempotent by token.  A newcomer takes the same path as a waiter that looks
-- (enter, serve, out again without join), so that it never overtakes.  The
-- first write is SET or ZADD: a full server refuses a new lock.
local e,join,ticket=ARGV[1],ARGV[2],ARGV[3]
local k,ttl,once,tok=parse(e)
ttl=tonumber(ttl)
for key,command in pairs({[L]='EXISTS',[Q]='ZCARD',[H]='ZCARD',[D]='GET',[F]='GET'}) do
  local _,odd=try(command,key)
  if odd or key==L and kind=='odd' then
    -- Changes nothing, since the key is there; but no replica gets past it.
    call('SET',key,'','NX','PX',1)
    return {78,key}
  end
end
local function ours(slot)
  local fence=''
  if ARGV[6]=='1' then
    local f=tonumber(call('GET',F) or 0) or 0
    fence=int(math.max(f+1,time[1]*1000000+time[2]))
    call('SET',F,fence,'PX',2592000000)
  end
  return {0,call('ZCARD',Q),slot,fence}
end
local m=held(tok,ARGV[4])
if once=='1' and call('EXISTS',D)==1 then
  local changed=call('ZREM',Q,e)==1 or m
  if m then drop(m,tok,0) end
  serve_all(changed)
  return {3,call('GET',D)}
end
if m then
  prolong(m,ttl)
  call('ZREM',Q,e)
  return ours(slot_of(m))
end
-- Slots and other kinds, or another N, do not wait for one another.
local function clash(other)
  if other and other~=k and (other..k):find('j') then
    call('ZREM',Q,e)
    return {79,other}
  end
end
local no=clash(kind)
if no then return no end
-- Below a run that holds it: in by its right, past the queue.
local above,mine=false,{}
for o in ARGV[5]:gmatch('%S+') do
  mine[o]=true
  above=above or held(o,'-1')
end
if above and kind=='x0' then
  call('PEXPIREAT',H,int(now+ttl))
  if not nested() then
    call('DEL',H)
    call('ZADD',H,int(now+left()),value)
    value=value..NEST
  end
  prolong(tok,ttl)
  call('ZREM',Q,e)
  return ours(-1)
elseif above and k=='s0' then
  put(k,tok,ttl,-1)
  call('ZREM',Q,e)
  return ours(-1)
end
local stuck=above
if next(mine) and kind==k and k:find('j') and not room(k) then
  stuck=true
  for _,x in ipairs(call('ZRANGE',L,0,-1)) do
    stuck=stuck and mine[x:match('^j%d+:%d+:(.*)$')]
  end
end
if stuck then
  call('ZREM',Q,e)
  return {64,kind}
end
local waiting=call('ZCARD',Q)
if not kind and waiting==0 and k=='x0' then
  put(k,tok,ttl)
  return ours(-1)
end
if ticket=='0' then
  local at=last(Q)
  ticket=int(math.max(time[1]*1000000+time[2],at and at+1 or 0))
end
if call('ZADD',Q,'NX',ticket,e)==0 then
  -- In line already, by an answer that was lost: that place counts.
  local at=call('ZRANK',Q,e)
  ticket=int(call('ZRANGE',Q,at,at,'WITHSCORES')[2])
end
local aged=redis.pcall('PEXPIRE',Q,QTTL)
if type(aged)=='table' then
  call('ZREM',Q,e)
  return aged
end
local slot,_,more=serve(e,false)
if slot and more then serve_all(true) end
if slot then return ours(slot) end
-- The first in line counts as a holder does, now that the dead ones are out.
no=not more and clash(kind or (parse(call('ZRANGE',Q,0,0)[1] or '')))
if no then return no end
-- More ahead than a step deals with: look again at once.
local rank=more and 0 or call('ZRANK',Q,e)
if join~='1' then call('ZREM',Q,e) end
return {1,holder(),more and 0 or left(),rank,ticket}
