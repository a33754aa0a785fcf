// See corpus.h.
#include "support/corpus.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <stdexcept>

namespace nmb::test {

namespace fs = std::filesystem;

fs::path corpus() {
  const char* folder = std::getenv("NMB_CORPUS");
  return folder ? fs::path(folder) : fs::path();
}

std::vector<fs::path> corpus_files(const std::string& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(corpus() / folder))
    if (entry.is_regular_file()) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<std::byte> read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::vector<std::byte> bytes(fs::file_size(path));
  in.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!in) throw std::runtime_error("cannot read " + path.string());
  return bytes;
}

}  // namespace nmb::test
