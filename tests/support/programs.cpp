// See programs.h.
#include "support/programs.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <stdexcept>

namespace nmb::test {

ProgramResult run(const std::string& command) {
  FILE* pipe = popen(("{ " + command + " ; } 2>&1").c_str(), "r");
  if (!pipe) throw std::runtime_error("cannot run " + command);
  ProgramResult result{};
  std::array<char, 65536> buffer;
  while (const std::size_t got = fread(buffer.data(), 1, buffer.size(), pipe))
    result.output.append(buffer.data(), got);
  const int status = pclose(pipe);
  result.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

bool is_installed(const std::string& program) {
  return run("command -v " + shell_quoted(program)).exit_code == 0;
}

std::string shell_quoted(std::string_view text) {
  std::string out = "'";
  for (char c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c;
  }
  return out + "'";
}

TemporaryFolder::TemporaryFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "nmb_test_XXXXXX").string();
  if (!mkdtemp(name.data())) throw std::runtime_error("cannot make a folder " + name);
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void write_file(const std::filesystem::path& path, std::string_view text) {
  std::ofstream out(path, std::ios::binary);
  out.write(text.data(), static_cast<std::streamsize>(text.size()));
  out.close();
  if (!out) throw std::runtime_error("cannot write " + path.string());
}

std::uint64_t stored_bytes(const std::filesystem::path& path) {
  struct stat info;
  if (::stat(path.c_str(), &info) != 0)
    throw std::runtime_error("cannot ask for the size of " + path.string());
  return static_cast<std::uint64_t>(info.st_blocks) * 512;
}

}  // namespace nmb::test
