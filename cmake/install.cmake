# The CMake package nmb (nmbConfig.cmake) and nmb.pc for pkg-config; neither has a path of this build. Library, headers,
# tools and manual pages are installed where they are defined.
include(CMakePackageConfigHelpers)
# Programs that are linked with a static library are also linked with what that uses.
set(NMB_IS_STATIC ON)
list(JOIN NMB_LIBRARIES " " NMB_REQUIRES)
set(NMB_LIBS " -pthread -ldl")
if(BUILD_SHARED_LIBS)
  set(NMB_IS_STATIC OFF)
  set(NMB_REQUIRES "")
  set(NMB_LIBS "")
endif()
set(NMB_PACKAGE_FOLDER ${CMAKE_INSTALL_LIBDIR}/cmake/nmb)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/nmbConfig.cmake.in ${CMAKE_CURRENT_BINARY_DIR}/nmbConfig.cmake
  INSTALL_DESTINATION ${NMB_PACKAGE_FOLDER} PATH_VARS CMAKE_INSTALL_LIBDIR)
write_basic_package_version_file(${CMAKE_CURRENT_BINARY_DIR}/nmbConfigVersion.cmake COMPATIBILITY SameMajorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/nmbConfig.cmake ${CMAKE_CURRENT_BINARY_DIR}/nmbConfigVersion.cmake
  DESTINATION ${NMB_PACKAGE_FOLDER})
install(EXPORT nmbTargets NAMESPACE nmb:: DESTINATION ${NMB_PACKAGE_FOLDER})
# The build can be used as it is, with nmb_DIR.
export(EXPORT nmbTargets NAMESPACE nmb:: FILE ${CMAKE_CURRENT_BINARY_DIR}/nmbTargets.cmake)

file(RELATIVE_PATH NMB_PREFIX ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig ${CMAKE_INSTALL_PREFIX})
configure_file(${CMAKE_CURRENT_LIST_DIR}/nmb.pc.in ${CMAKE_CURRENT_BINARY_DIR}/nmb.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/nmb.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
