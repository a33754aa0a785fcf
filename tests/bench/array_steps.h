// The measured work of a simulation on arrays that its ranks share: in each step every rank has a
// part of each of several variables z x y x x of float, and all put theirs into one record.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace nmb::bench {

enum class Way {
  kPutAll,   // a collective put for each variable
  kWaitAll,  // requests, and one collective wait a step
  kPut,      // each rank puts its own part by itself
};
inline const std::map<std::string, Way> kWays = {
    {"put_all", Way::kPutAll}, {"wait_all", Way::kWaitAll}, {"put", Way::kPut}};
enum class Split { kZ, kY, kX, kYX };
inline const std::map<std::string, Split> kSplits = {
    {"z", Split::kZ}, {"y", Split::kY}, {"x", Split::kX}, {"yx", Split::kYX}};

struct ArraySteps {
  std::string path;
  Split split = Split::kZ;
  Way way = Way::kPutAll;
  std::uint64_t steps = 10, variables = 8;
  std::uint64_t z = 64, y = 512, x = 512;

  void add_to(CLI::App& app) {
    app.add_option("FILE", path, "to be written, replaced if there")->required();
    app.add_option("--split", split, "along which dimensions ranks divide the arrays")
        ->transform(CLI::CheckedTransformer(kSplits));
    app.add_option("--way", way, "how a step is put")->transform(CLI::CheckedTransformer(kWays));
    app.add_option("--steps", steps, "default 10, of 537 MB")->check(CLI::Range(1, 1000));
    for (const auto& [name, length] :
         {std::pair("--z", &z), std::pair("--y", &y), std::pair("--x", &x)})
      app.add_option(name, *length, "length of a dimension")->check(CLI::Range(1, 1 << 20));
  }

  // A rank's part: where it begins and how long it is, along z, y and x.
  struct Part {
    std::vector<std::uint64_t> start, count;
    std::uint64_t elements() const { return count[0] * count[1] * count[2]; }
  };
  Part part(int rank, int size) const {
    const auto r = static_cast<std::uint64_t>(rank), n = static_cast<std::uint64_t>(size);
    Part part{{0, 0, 0}, {z, y, x}};
    auto cut = [&](std::size_t d, std::uint64_t i, std::uint64_t of) {
      const std::uint64_t length = part.count[d];
      part.start[d] = length * i / of;
      part.count[d] = length * (i + 1) / of - part.start[d];
    };
    if (split == Split::kYX) {
      std::uint64_t columns = 1;
      while (columns * columns < n) columns *= 2;
      if (n % columns != 0) columns = 1;
      cut(1, r / columns, n / columns);
      cut(2, r % columns, columns);
    } else {
      cut(split == Split::kZ ? 0 : split == Split::kY ? 1 : 2, r, n);
    }
    return part;
  }
  // The values of the rank's part of a variable in a step.
  void fill(std::uint64_t step, std::uint64_t variable, const Part& part,
            std::vector<float>* values) const {
    values->resize(part.elements());
    float* to = values->data();
    for (std::uint64_t k = 0; k < part.count[0]; ++k)
      for (std::uint64_t j = 0; j < part.count[1]; ++j)
        for (std::uint64_t i = 0; i < part.count[2]; ++i)
          *to++ = static_cast<float>(
              step * 100000 + variable * 10000 +
              ((part.start[0] + k) * 31 + (part.start[1] + j) * 7 + part.start[2] + i) % 9973);
  }
};

}  // namespace nmb::bench
