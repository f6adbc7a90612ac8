-- release: give the lock back, or leave the queue, and serve who waits.
-- prelude:yes
-- ARGV: 1 entry, 2 slot (as held), 3 ms that the place stays taken, 4 ms that
-- the marker of --once stays (0: none), 5 ms that the command ran
-- Returns {0, refused} released; {1, holder, refused} held by somebody else;
-- {2, '', refused} nothing there; {9, 0, 1 or 2} as these, but call it again:
-- there is more in the queue than a step deals with, and nobody alive may have
-- been told.  refused is 1 when this user may not PUBLISH: the lock is free,
-- but the next waiter finds out by itself.
-- Idempotent by token.  ZREM comes first, even of a missing entry: then a
-- server that is out of memory lets the rest through, and a replica refuses.
-- Marker: "END_MS RUN_MS TOKEN", the end by this server's clock.
local _,odd=try('ZREM',Q,ARGV[1])
local _,_,_,tok=parse(ARGV[1])
local who=holder()
local code=kind and 1 or 2
local m=held(tok,ARGV[2])
if m then
  code=0
  local stays=tonumber(ARGV[4])
  if stays>0 then
    call('SET',D,int(now)..' '..ARGV[5]..' '..tok,'PX',int(stays))
  end
  drop(m,tok,tonumber(ARGV[3]))
end
local refused,more=false,false
if not odd and kind~='odd' then
  _,refused,more=serve(nil,true)
end
refused=refused and 1 or 0
if more then return {9,code} end
if code==0 then return {0,refused} end
return {code,who,refused}
