-- status: all that is to be known of a lock, at one moment.  Writes nothing.
-- prelude:yes
-- Returns {kind or '', type, ms left or -1, holders, waiting, waiters, marker,
-- ms left of it, fence}
--   kind: as in the prelude; 'odd' is not a lock, and type (as of TYPE) tells
--     what it is, in all cases
--   holders: token, ms left, slot or -1, of each; with nested runs all of them;
--     of what is no token the first 640 bytes
--   waiting: how many are in the queue; waiters: kind, TTL, token, 1 when it
--     listens, else 0, of the first 1000 in order
--   marker: of --once, or ''; fence: the last number, or ''
local holders,waiters={},{}
local function add(list,...)
  for i=1,select('#',...) do list[#list+1]=(select(i,...)) end
end
local ttl=call('PTTL',L)
-- Whatever else has got into the set is shown as it is.
if nested() or kind and kind:find('^[sj]') then
  local set=nested() and H or L
  local h=try('ZRANGEBYSCORE',set,'('..int(now),'+inf','WITHSCORES') or {}
  for i=1,#h,2 do
    local tok=h[i]:match('rlock:1:.*$') or h[i]
    add(holders,tok:sub(1,640),tonumber(h[i+1])-now,slot_of(h[i]))
  end
end
-- Also when the set of the nested runs was lost.
if kind=='x0' and #holders==0 then
  local tok=nested() and value:sub(1,-#NEST-1) or value
  add(holders,tok:sub(1,640),ttl,-1)
end
local queued=try('ZRANGE',Q,0,999) or {}
for _,e in ipairs(queued) do
  local k,t,_,tok=parse(e)
  if k then
    add(waiters,k,tonumber(t),tok,call('PUBSUB','NUMSUB',channel(tok))[2]>0 and 1 or 0)
  end
end
return {kind or '',call('TYPE',L).ok,ttl,holders,try('ZCARD',Q) or 0,waiters,
  try('GET',D) or '',call('PTTL',D),try('GET',F) or ''}
