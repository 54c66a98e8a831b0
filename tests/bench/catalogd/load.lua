-- Asks for a random line of the file TARGETS each time; prints the figures as one line of JSON.
local requests = {}
local threads = 0

function setup(thread)
  threads = threads + 1
  thread:set("number", threads)
end

function init()
  math.randomseed(number)
  for target in io.lines(os.getenv("TARGETS")) do
    local path, body = target:match("^(%S+) ?(.*)$")
    requests[#requests + 1] = body == "" and wrk.format("GET", path) or wrk.format("POST", path, nil, body)
  end
end

function request()
  return requests[math.random(#requests)]
end

function done(summary, latency)
  local faults = summary.errors
  io.write(string.format(
    '{"per_second": %.1f, "mb_per_second": %.1f, "p50_ms": %.2f, "p99_ms": %.2f, "errors": %d}\n',
    summary.requests / summary.duration * 1e6, summary.bytes / summary.duration,
    latency:percentile(50) / 1000, latency:percentile(99) / 1000,
    faults.connect + faults.read + faults.write + faults.status + faults.timeout))
end
