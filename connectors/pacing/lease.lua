-- One provider quota shared by many workers: takes in a worker's report and grants tokens.
--
-- This is streams/policy/quota.py, pace by pace and name by name; the reasons are written there.
-- KEYS[1] the quota's memory. ARGV: see connectors/pacing/shared_quota.py.
-- Everything is one value with a time to live; the clock is this server's.

local LAYOUT = 2
local SLOW_START, RECOVER, PLATEAU, PROBE = 0, 1, 2, 3
local HOLD_MS, NEAR, PLATEAU_MS, DOUBLE_MS, SLOW_START_MS = 500, 0.97, 3000, 2000, 1500
local FIRST_GROWTH, LAST_GROWTH, SLOW_START_FROM, DOUBT = 0.02, 0.30, 0.1, 10
local LONG_MS, LONGEST_MS, REMEMBERED_WINDOWS = 10000, 120000, 10
local PATIENCE, LONGEST_PATIENCE_MS = 10, 60000
local RESTART_MS, LONGEST_STEP_MS, LONGEST_WAIT_MS, SHORTEST_WAIT_MS, EXACT = 10000, 1000, 1000, 2, 1e-9
local KEPT_MS = 600000

local min, max, floor, ceil = math.min, math.max, math.floor, math.ceil

local function clock()
  local t = redis.call('TIME')
  return t[1] * 1000 + floor(t[2] / 1000)
end

local limits, sharing, wish = cjson.decode(ARGV[1]), cjson.decode(ARGV[2]), cjson.decode(ARGV[3])
local now = clock()

-- streams/policy/aimd.py -------------------------------------------------------------------------

local function begin()
  local known = limits.nominal > 0
  local rate = min(known and limits.nominal or limits.start, limits.ceiling)
  return {
    at_ms = now, rate = rate, good = known and rate or 0, phase = known and PLATEAU or SLOW_START,
    since_ms = now, origin = 0, peak = 0, patience_ms = 0, growth = FIRST_GROWTH, grown_ms = now, cut_ms = -1e15, ok = 0,
    throttled = 0, cut_ok = 0, cut_throttled = 0, rtt_ms = 0, paused_ms = 0,
    window_ms = limits.window_ms >= LONG_MS and limits.window_ms or 0,
    observed_ms = 0, entered_ms = now, served = 0, before = 0, used = 0, due = 0, measured_ms = now,
    utilised = false,
  }
end

local function running_ms(since, paused)
  return max(0, min(now - max(since, min(paused, now)), LONGEST_STEP_MS))
end

local function enter(pace, phase, at)
  pace.phase, pace.since_ms, pace.growth, pace.grown_ms = phase, at, FIRST_GROWTH, at
end

local function restart(pace)
  local begun = pace.phase == SLOW_START and pace.good > 0 and now - pace.since_ms < RESTART_MS
  if not begun then
    pace.good = pace.good > 0 and pace.good or pace.rate
    pace.rate = min(pace.rate, max(limits.floor, SLOW_START_FROM * pace.good))
    enter(pace, SLOW_START, now)
  end
end

local function measure(pace, ran, used)
  pace.due = pace.due + pace.rate * ran / 1000
  pace.used = pace.used + used
  if now - pace.measured_ms >= max(500, 4000 / pace.rate) then
    pace.utilised = pace.used + 1 >= 0.8 * pace.due
    pace.used, pace.due, pace.measured_ms = 0, 0, now
  end
end

local function grow(pace, ran)
  local near = pace.good > 0 and max(limits.floor, NEAR * pace.good) or 0
  if pace.phase == RECOVER then
    pace.rate = min(near, pace.rate + max(0, near - pace.origin) * ran / limits.recover_ms)
    if pace.rate >= near then enter(pace, PLATEAU, now) end
  elseif not pace.utilised then
    pace.growth, pace.grown_ms = FIRST_GROWTH, now
  elseif pace.phase == SLOW_START then
    local top = near > 0 and min(near, limits.ceiling) or limits.ceiling
    pace.rate = min(top, pace.rate * 2 ^ (ran / SLOW_START_MS))
    if pace.rate >= top then enter(pace, PLATEAU, now) end
  elseif pace.phase == PLATEAU then
    if now - pace.since_ms >= max(PLATEAU_MS, pace.patience_ms, pace.window_ms / 2) then enter(pace, PROBE, now) end
  else
    local slower = max(1, pace.window_ms / LONG_MS)
    if now - pace.grown_ms >= DOUBLE_MS * slower then
      pace.growth, pace.grown_ms = min(LAST_GROWTH, 2 * pace.growth), now
    end
    pace.rate = min(limits.ceiling, pace.rate * (1 + pace.growth * ran / (1000 * slower)))
    pace.good = max(pace.good, pace.rate)
  end
end

-- streams/policy/quota_window.py

local function count(pace, ok)
  pace.served = pace.served + ok
  local lasted = now - pace.entered_ms
  if pace.window_ms > 0 and lasted >= pace.window_ms then
    pace.before = lasted < 2 * pace.window_ms and pace.served or 0
    pace.served, pace.entered_ms = 0, now
    local shown = now - pace.observed_ms <= REMEMBERED_WINDOWS * pace.window_ms
    if limits.window_ms < LONG_MS and not shown then pace.window_ms = 0 end
  end
end

local function close(pace, after)
  if after >= LONG_MS then
    pace.window_ms, pace.observed_ms = max(pace.window_ms, after), now
  end
  local ends = after > 0 and now + after or max(pace.entered_ms + pace.window_ms, now + 1000)
  if now < pace.paused_ms then
    pace.paused_ms = max(pace.paused_ms, ends)
    pace.entered_ms = pace.paused_ms
    return
  end
  local lasted = max(pace.window_ms / 2, ends - pace.entered_ms)
  local worth = max(pace.served / lasted, pace.before / pace.window_ms) * 1000
  pace.good = worth > 0 and worth or pace.rate / 2
  pace.rate = max(limits.floor, NEAR * pace.good)
  pace.paused_ms, pace.entered_ms = ends, ends
  pace.served, pace.before, pace.ok, pace.throttled = 0, 0, 0, 0
  enter(pace, PLATEAU, ends)
end

local function is_late(pace)
  return now < pace.paused_ms + pace.rtt_ms
end

local function cut(pace)
  local refused = pace.cut_throttled / (pace.cut_ok + pace.cut_throttled + DOUBT)
  local kept = max(0.5, 1 - refused)
  pace.good = max(limits.floor, pace.peak * kept)
  pace.rate = max(limits.floor, pace.peak * (refused < 0.1 and 0.9 or kept))
  pace.origin = pace.rate
  enter(pace, RECOVER, now)
end

local function slow_down(pace, after)
  if pace.window_ms > 0 or (LONG_MS <= after and after <= LONGEST_MS) then
    return close(pace, after)
  end
  local late = is_late(pace)
  if not late and now - pace.cut_ms >= max(HOLD_MS, 2 * pace.rtt_ms) then
    pace.peak, pace.cut_ms = pace.rate, now
    pace.cut_ok, pace.cut_throttled, pace.ok, pace.throttled = pace.ok, pace.throttled, 0, 0
    pace.patience_ms = min(PATIENCE * after, LONGEST_PATIENCE_MS)
    cut(pace)
    if after > LONGEST_MS then restart(pace) end
  elseif late and pace.phase == RECOVER then
    cut(pace)
  end
  if after > 0 then pace.paused_ms = max(pace.paused_ms, now + after) end
end

local function step(pace)
  local ran = running_ms(pace.at_ms, pace.paused_ms)
  measure(pace, ran, -wish.returned)
  grow(pace, ran)
  if wish.rtt_ms > 0 then
    pace.rtt_ms = pace.rtt_ms + (wish.rtt_ms - pace.rtt_ms) * (pace.rtt_ms > 0 and 0.3 or 1)
  end
  if is_late(pace) then
    pace.cut_ok, pace.cut_throttled = pace.cut_ok + wish.ok, pace.cut_throttled + wish.throttled
  else
    pace.ok, pace.throttled = pace.ok + wish.ok, pace.throttled + wish.throttled
  end
  count(pace, wish.ok)
  if wish.throttled > 0 then slow_down(pace, wish.after_ms) end
  if wish.restart and not pace.utilised then restart(pace) end
  pace.at_ms = now
end

-- streams/policy/shares.py -----------------------------------------------------------------------

local function fair_level(capacity, demands)
  table.sort(demands)
  local left, number = capacity, #demands
  for position, demand in ipairs(demands) do
    local level = left / (number - position + 1)
    if demand > level then return level end
    left = left - demand
  end
  return math.huge
end

local function lane_shares(capacity, demands)
  local shares, left = {}, capacity
  for lane = 1, 3 do
    shares[lane] = min(demands[lane], capacity * sharing.reserves[lane])
    left = left - shares[lane]
  end
  for lane = 1, 3 do
    local borrowed = min(demands[lane] - shares[lane], left)
    shares[lane], left = shares[lane] + borrowed, left - borrowed
  end
  return shares, max(0, left)
end

-- streams/policy/quota.py ------------------------------------------------------------------------

local stored = redis.call('GET', KEYS[1])
local readable, quota = pcall(cmsgpack.unpack, stored or '')
local ours = stored and readable and type(quota) == 'table' and quota.layout == LAYOUT
-- Another layout, or a clock that went back: what was learnt means nothing any more.
if not ours or quota.pace.at_ms > now + 5000 then
  quota = { layout = LAYOUT, pace = begin(), level = 1, members = {} }
end
local pace = quota.pace

local running = running_ms(pace.at_ms, pace.paused_ms)
step(pace)
local size = max(1, pace.rate * sharing.burst_s)
local level = min(size, quota.level + wish.returned + pace.rate * running / 1000)

local known, members, number = nil, {}, 1
for name, member in pairs(quota.members) do
  if now - member.seen_ms < sharing.member_ms then
    if name == wish.member then known = member else members[name], number = member, number + 1 end
  end
end
members[wish.member] = { seen_ms = now, demands = wish.demands, credits = {} }

local asked, sums = { {}, {}, {} }, { 0, 0, 0 }
for _, member in pairs(members) do
  for lane = 1, 3 do
    local demand = member.demands[lane]
    if demand > 0 then
      table.insert(asked[lane], demand)
      sums[lane] = sums[lane] + demand
    end
  end
end
local lanes, idle = lane_shares(pace.rate, sums)

local own_ms = known and running_ms(known.seen_ms, pace.paused_ms) or 0
local paused_ms = max(0, ceil(pace.paused_ms - now))
local grants, waits, shares, credits, alone = {}, {}, {}, {}, idle / number
for lane = 1, 3 do
  local own_share = min(wish.demands[lane], fair_level(lanes[lane], asked[lane]))
  local share = own_share + idle
  alone = alone + own_share
  local most = max(1, share * sharing.burst_s)
  local credit = known and min(most, known.credits[lane] + share * own_ms / 1000) or most
  local spare = max(0, level - size / 2)
  local room = level + (lane == 1 and max(1, sharing.reserves[1] * size) or 0)
  local want, grant, wait = wish.wants[lane], 0, 0
  if paused_ms == 0 then
    grant = max(0, floor(min(want, credit + spare, room, sharing.largest) + EXACT))
  end
  credits[lane], level = max(0, credit - grant), level - grant
  pace.used = pace.used + grant
  if want > grant then
    local least = lane == 1 and 1 or max(1, min(share * sharing.lease_s, want, sharing.largest))
    local own = share > EXACT and (least - credits[lane]) / share or LONGEST_WAIT_MS
    wait = max(paused_ms, max(own, (least - room + grant) / pace.rate) * 1000)
    wait = min(max(ceil(wait - EXACT), SHORTEST_WAIT_MS), LONGEST_WAIT_MS)
  end
  grants[lane], waits[lane], shares[lane] = grant, wait, share
end
members[wish.member].credits = credits
alone = max(alone, pace.rate / number / 2)

local memory = cmsgpack.pack({ layout = LAYOUT, pace = pace, level = level, members = members })
redis.call('SET', KEYS[1], memory, 'PX', max(KEPT_MS, paused_ms + KEPT_MS))

-- Rates as text, because a number in a reply loses its fraction.
local reply = { grants[1], grants[2], grants[3], waits[1], waits[2], waits[3], pace.phase, paused_ms, number, now }
for _, rate in ipairs({ shares[1], shares[2], shares[3], alone, pace.rate, pace.good }) do
  table.insert(reply, string.format('%.17g', rate))
end
return reply
