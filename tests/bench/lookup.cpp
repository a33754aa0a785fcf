// Lookups of random variables (see lookup.h).
#include "lookup.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <random>
#include <stdexcept>

#include "process_cost.h"
#include "wire/kinds.h"

namespace nmb::bench {

namespace {

struct Wanted {
  std::string name;
  std::vector<std::int32_t> values;
  std::uint64_t bytes = 0;  // of values as they are stored
};

Wanted wanted(const Description& description, std::uint64_t number) {
  std::size_t block = 0, first = 0, dimension = 0;
  while (first + description.blocks[block].variables <= number)
    first += description.blocks[block++].variables;
  for (std::size_t v = 0; v < number; ++v) dimension += description.variables[v].rank;
  const Description::Variable& variable = description.variables[number];
  std::uint64_t count = 1;
  for (std::uint8_t axis = 0; axis < variable.rank; ++axis)
    count *= description.dimensions[dimension + axis].length;
  std::string name(description.text(description.blocks[block].name));
  name += '/';
  name += description.text(variable.name);
  return {std::move(name), values_of(number, count), count * type_size(variable.type)};
}

template <class T>
double median(std::vector<T> values) {
  std::sort(values.begin(), values.end());
  const std::size_t n = values.size();
  return (static_cast<double>(values[(n - 1) / 2]) + static_cast<double>(values[n / 2])) / 2;
}

}  // namespace

int run_lookups(int argc, char** argv, const char* program, const Lookup& lookup) try {
  CLI::App app("Reads random variables by name, each with a fresh open.", program);
  std::string path;
  Shape shape = Shape::kSamples;
  std::uint64_t samples = 0, count = 101, seed = 1;
  app.add_option("FILE", path, "to be read")->required();
  app.add_option("--shape", shape, "what the file was made as")
      ->transform(CLI::CheckedTransformer(kShapes));
  app.add_option("--samples", samples, "and with how many samples");
  app.add_option("--lookups", count, "how many")->check(CLI::Range(1, 1'000'000));
  app.add_option("--seed", seed, "of the choice");
  CLI11_PARSE(app, argc, argv);

  if (samples == 0) samples = usual_samples(shape);
  const Description description = describe(shape, Samples::all(samples), false);
  std::mt19937_64 random(seed);
  const auto next = [&] { return wanted(description, random() % description.variables.size()); };
  // What every process does once, such as setting up a library, is not measured.
  lookup(path, next().name);
  const Reads before = reads_so_far(), after = reads_so_far();
  const Reads counting{after.calls - before.calls, after.bytes - before.bytes};
  std::vector<double> seconds;
  std::vector<std::uint64_t> reads, bytes;
  for (std::uint64_t i = 0; i < count; ++i) {
    const Wanted one = next();
    const Reads reads_before = reads_so_far();
    const Time start = now();
    const std::vector<std::int32_t> found = lookup(path, one.name);
    seconds.push_back((now() - start).wall);
    const Reads reads_after = reads_so_far();
    if (found != one.values)
      throw std::runtime_error(one.name + ": found other values than were put");
    reads.push_back(reads_after.calls - reads_before.calls - counting.calls);
    bytes.push_back(reads_after.bytes - reads_before.bytes - counting.bytes - one.bytes);
  }
  std::printf(
      "{\"lookups\": %zu, \"seconds\": %.9f, \"reads\": %.0f, \"most_reads\": %ju, "
      "\"bytes_beyond_values\": %.0f, "
      "\"most_bytes_beyond_values\": %ju}\n",
      seconds.size(), median(seconds), median(reads),
      std::uintmax_t{*std::max_element(reads.begin(), reads.end())}, median(bytes),
      std::uintmax_t{*std::max_element(bytes.begin(), bytes.end())});
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s: %s\n", program, error.what());
  return 2;
}

}  // namespace nmb::bench
