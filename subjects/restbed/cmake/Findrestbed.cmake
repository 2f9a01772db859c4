# Finds a Restbed 4 that was installed from its sources, which installs no package for CMake.
#
# restbed::restbed links it. The library tells its version in its file name only, and there as of
# the release before (4.8 calls itself 4.7): only the major version is told.

find_path(restbed_INCLUDE_DIR corvusoft/restbed/context_value.hpp)
# Its own `cmake --install` calls the folder `library`.
find_library(restbed_LIBRARY restbed PATH_SUFFIXES library)

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(restbed REQUIRED_VARS restbed_LIBRARY restbed_INCLUDE_DIR)

if(restbed_FOUND AND NOT TARGET restbed::restbed)
  find_package(OpenSSL REQUIRED)
  find_package(Threads REQUIRED)
  add_library(restbed::restbed UNKNOWN IMPORTED)
  set_target_properties(restbed::restbed PROPERTIES
    IMPORTED_LOCATION ${restbed_LIBRARY}
    INTERFACE_INCLUDE_DIRECTORIES ${restbed_INCLUDE_DIR}
    INTERFACE_LINK_LIBRARIES "OpenSSL::SSL;Threads::Threads;${CMAKE_DL_LIBS}")
  set(restbed_VERSION 4)
endif()
