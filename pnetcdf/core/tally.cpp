#include "tally.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "wire/joined_text.h"

namespace nmb::pnetcdf {

void write_tally(const std::string& path, int rank, const Tally& tally, const std::string& writer) {
  const char* const to = std::getenv("NMB_RUN_TALLY");
  if (to == nullptr) return;
  char numbers[320];
  std::snprintf(numbers, sizeof numbers, "file %d %.6f %.6f %.6f %.6f %.6f %llu %llu %llu %llu ",
                rank, tally.define, tally.put, tally.get, tally.wait, tally.commit,
                static_cast<unsigned long long>(tally.puts),
                static_cast<unsigned long long>(tally.gets),
                static_cast<unsigned long long>(tally.put_bytes),
                static_cast<unsigned long long>(tally.got_bytes));
  std::string line = numbers + path + "\t" + writer;
  for (char& c : line)
    if (c == '\n') c = ' ';
  line += '\n';
  // One write with O_APPEND, so that lines of several processes do not mix.
  const int file = ::open(to, O_WRONLY | O_APPEND | O_CLOEXEC);
  if (file < 0) return;
  if (::write(file, line.data(), line.size()) != static_cast<ssize_t>(line.size()))
    std::fputs("nmb-pnetcdf: cannot write the report\n", stderr);
  ::close(file);
}

}  // namespace nmb::pnetcdf
