-- release: give the lock back, or leave the queue, and serve who waits.
-- prelude:yes
-- ARGV: 1 token, 2 ttl in ms (it names the queue entry)
-- Returns {0, refused} released; {1, holder, refused} held by somebody else;
-- {2, '', refused} nothing there; {9, 0, 1 or 2} as these, but call it again:
-- more dead ones wait than a step drops, and nobody alive may have been told.
-- refused is 1 when this user may not PUBLISH: the lock is free, but the next
-- waiter finds out by itself.
-- Idempotent by token.  ZREM comes first, even of a missing entry: then a
-- server that is out of memory lets the rest through, and a replica refuses.
local tok=ARGV[1]
local _,odd=try('ZREM',Q,'x0:'..ARGV[2]..':0:'..tok)
local v,bad=holder()
if v==tok then call('DEL',L,H) end
local refused,more=false,false
if not odd and not bad then
  _,refused,more=serve(nil,0,true)
end
local code=v==tok and 0 or (v or bad) and 1 or 2
refused=refused and 1 or 0
if more then return {9,code} end
if code==0 then return {0,refused} end
return {code,v or '',refused}
