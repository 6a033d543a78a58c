# cmake --install: the program, the library, its headers, and what find_package(ricochet) reads.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

install(TARGETS ricochet ricochet-host EXPORT ricochet ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS ricochet-program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/src/ricochet DESTINATION include
        FILES_MATCHING PATTERN "*.h")

set(PACKAGE_FOLDER ${CMAKE_INSTALL_LIBDIR}/cmake/ricochet)
install(EXPORT ricochet FILE ricochetTargets.cmake NAMESPACE ricochet::
        DESTINATION ${PACKAGE_FOLDER})
configure_package_config_file(
  ${PROJECT_SOURCE_DIR}/tools/ricochetConfig.cmake.in
  ${PROJECT_BINARY_DIR}/ricochetConfig.cmake
  INSTALL_DESTINATION ${PACKAGE_FOLDER})
write_basic_package_version_file(
  ${PROJECT_BINARY_DIR}/ricochetConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ricochetConfig.cmake
              ${PROJECT_BINARY_DIR}/ricochetConfigVersion.cmake
        DESTINATION ${PACKAGE_FOLDER})
