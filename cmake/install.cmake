# The CMake package nmb (nmbConfig.cmake). Library, headers and tools are installed where they are defined.
include(CMakePackageConfigHelpers)
set(NMB_PACKAGE_FOLDER ${CMAKE_INSTALL_LIBDIR}/cmake/nmb)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/nmbConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/nmbConfig.cmake
  INSTALL_DESTINATION ${NMB_PACKAGE_FOLDER})
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/nmbConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/nmbConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/nmbConfigVersion.cmake
  DESTINATION ${NMB_PACKAGE_FOLDER})
install(EXPORT nmbTargets NAMESPACE nmb:: DESTINATION ${NMB_PACKAGE_FOLDER})
