-- break: release the lock, whoever holds it, and serve who waits.
-- prelude:yes
-- Returns {0, refused, token...} of all that held it; {2} nothing there; {78,
-- key} key is not a lock: nothing was touched.  refused: as for release.
-- ZREM comes first, so that a server that is out of memory lets the rest
-- through, and a replica refuses.
local _,odd=try('ZREM',Q,'')
if odd or kind=='odd' then return {78,odd and Q or L} end
if not kind then return {2} end
local out={0,0}
if nested() then
  local h
  h,odd=try('ZRANGEBYSCORE',H,'('..int(now),'+inf')
  if odd then return {78,H} end
  for _,tok in ipairs(h) do out[#out+1]=tok end
  -- When that set was lost, one of them is still known.
  out[3]=out[3] or value:sub(1,-#NEST-1)
elseif kind=='x0' then
  out[3]=value
else
  for _,m in ipairs(call('ZRANGEBYSCORE',L,'('..int(now),'+inf')) do
    out[#out+1]=m:match('rlock:1:.*$') or m
  end
end
call('DEL',L,H)
kind=false
if serve_all(true) then out[2]=1 end
return out
