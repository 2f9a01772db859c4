# Builds `driver` in the folder it is called from: that folder's *.cpp, the shared half beside this
# file, Google Benchmark and HdrHistogram from their sources.
#
#   make -f shared/cpp-driver/driver.mk LIBS="-lssl -lcrypto" [FLAGS="-I…"]
#
# Google Benchmark is compiled here since Debian's library is a debug build.

SHARED := $(dir $(lastword $(MAKEFILE_LIST)))
BENCHMARK := $(firstword $(wildcard benchmark-*))
HISTOGRAM := native-hdr-histogram/HdrHistogram_c/src

CPPFLAGS := -I$(SHARED) -I$(BENCHMARK)/include -I$(HISTOGRAM) -DNDEBUG
CFLAGS := -O2
CXXFLAGS := -O2 -std=c++17 -pthread

own := $(patsubst %.cpp,objects/own/%.o,$(notdir $(wildcard *.cpp)))
shared := $(patsubst $(SHARED)%.cpp,objects/shared/%.o,$(wildcard $(SHARED)*.cpp))
benchmark := $(patsubst $(BENCHMARK)/src/%.cc,objects/benchmark/%.o,\
  $(filter-out %/benchmark_main.cc,$(wildcard $(BENCHMARK)/src/*.cc)))
histogram := $(patsubst %,objects/histogram/%.o,hdr_histogram hdr_histogram_log hdr_encoding hdr_time)

driver: $(own) $(shared) $(benchmark) $(histogram)
	$(CXX) $(CXXFLAGS) -o $@ $^ $(LIBS) -lz

headers := $(wildcard *.hpp $(SHARED)*.hpp)

# What others wrote is compiled without our warnings.
objects/own/%.o: %.cpp $(headers) | objects
	$(CXX) $(CPPFLAGS) $(CXXFLAGS) -Wall -Wextra $(FLAGS) -c -o $@ $<
objects/shared/%.o: $(SHARED)%.cpp $(headers) | objects
	$(CXX) $(CPPFLAGS) $(CXXFLAGS) -Wall -Wextra -c -o $@ $<
objects/benchmark/%.o: $(BENCHMARK)/src/%.cc | objects
	$(CXX) $(CPPFLAGS) $(CXXFLAGS) -DHAVE_POSIX_REGEX -DHAVE_STEADY_CLOCK -c -o $@ $<
objects/histogram/%.o: $(HISTOGRAM)/%.c | objects
	$(CC) $(CPPFLAGS) $(CFLAGS) -c -o $@ $<

objects:
	mkdir -p objects/own objects/shared objects/benchmark objects/histogram
