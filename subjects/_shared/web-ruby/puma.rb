# frozen_string_literal: true

# Puma's configuration file: a worker process for each thread of the trial.

require_relative "contract"

# A cluster of one worker would add a master process that has nothing to do.
workers Contract.processes if Contract.processes > 1

# Puma's own maximum for MRI, but started at once; less if a process may hold fewer connections.
if ENV["TUNED"]
  count = [5, Contract.pool_size].min
  threads count, count
end
