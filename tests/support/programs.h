// Other programs as oracles of tests: run if installed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

namespace nmb::test {

struct ProgramResult {
  int exit_code;
  std::string output;  // standard output and standard error
};

// Runs a shell command line.
ProgramResult run(const std::string& command);
bool is_installed(const std::string& program);
// `text` in quotation marks of the shell.
std::string shell_quoted(std::string_view text);

// A new folder, removed with what it holds at the end of its life.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

void write_file(const std::filesystem::path& path, std::string_view text);
// Bytes that the file system stores of a file.
std::uint64_t stored_bytes(const std::filesystem::path& path);

}  // namespace nmb::test

#define NMB_NEEDS_PROGRAM(program) \
  if (!::nmb::test::is_installed(program)) GTEST_SKIP() << program << " is not installed"
