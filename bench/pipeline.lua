-- So many requests in one write, as wrk has no flag for it.
init = function(arguments)
  local requests = {}
  for at = 1, tonumber(arguments[1]) do
    requests[at] = wrk.format("GET")
  end
  together = table.concat(requests)
end

request = function()
  return together
end
