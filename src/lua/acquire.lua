-- acquire: take the lock, wait in line for it, or prove that it is ours.
-- prelude:yes
-- ARGV: 1 token, 2 ttl in ms, 3 join (1: stay in the queue), 4 ticket or 0
-- Returns {0, waiting} ours, the full lease set now, so many wait behind;
-- {1, holder, left ms or -1, rank, ticket} held by somebody else;
-- {78, key} key has another type: nothing was touched.
-- Idempotent by token.  A newcomer takes the same path as a waiter that looks
-- (enter, serve, out again without join), so that it never overtakes.  The
-- first write is SET or ZADD: a full server refuses a new lock.
local tok,ttl,ticket=ARGV[1],ARGV[2],ARGV[4]
local e='x0:'..ttl..':0:'..tok
local v,odd=holder()
local waiting,odd_queue=try('ZCARD',Q)
if odd or odd_queue then
  local key=odd and L or Q
  -- Changes nothing, since the key is there; but no replica gets past it.
  call('SET',key,'','NX','PX',1)
  return {78,key}
end
if v==tok then
  call('PEXPIRE',L,ttl)
  call('ZREM',Q,e)
  return {0,call('ZCARD',Q)}
end
if not v and waiting==0 then
  put(tok,ttl)
  return {0,0}
end
if ticket=='0' then
  local t=call('TIME')
  local last=call('ZRANGE',Q,-1,-1,'WITHSCORES')[2]
  ticket=int(math.max(t[1]*1000000+t[2],last and tonumber(last)+1 or 0))
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
local mine,_,more=serve(e,ttl,false)
if mine then return {0,call('ZCARD',Q)} end
-- More dead ones ahead than a step drops: look again at once.
local rank=more and 0 or call('ZRANK',Q,e)
if ARGV[3]~='1' then call('ZREM',Q,e) end
return {1,holder() or '',more and 0 or left(),rank,ticket}
