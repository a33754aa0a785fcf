// bench_samples: makes a file of graph samples, and reads random samples from it: the work of
// python_samples.py, by this library in C++. A sample is a block with 16 variables, 99 KB on
// average.
#include <nmb/reader.h>
#include <nmb/writer.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

constexpr std::array<const char*, 3> kPlanes = {"u", "v", "y"};

std::string sample_name(std::uint64_t sample) {
  std::array<char, 32> name{};
  std::snprintf(name.data(), name.size(), "r%04u/e%07u", static_cast<unsigned>(sample / 1000),
                static_cast<unsigned>(sample));
  return name.data();
}

template <class T>
void put(nmb::Block& block, const std::string& name, std::initializer_list<std::uint64_t> shape,
         std::uint64_t seed) {
  std::vector<nmb::Dim> dims;
  std::uint64_t count = 1;
  for (const std::uint64_t length : shape) {
    dims.push_back(block.dim(name + "_dim_" + std::to_string(dims.size()), length));
    count *= length;
  }
  nmb::Var var = block.var<T>(name, dims);
  std::vector<T> values(count);
  for (std::uint64_t i = 0; i < count; ++i) values[i] = static_cast<T>((seed * 7919 + i) % 1000);
  var.put(values);
}

void make(const std::string& path, std::uint64_t samples, bool one_object) {
  nmb::WriteOptions options;
  options.mode = nmb::WriteOptions::Mode::kReplace;
  options.sync = false;
  nmb::Writer out(path, options);
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> nodes(5, 0.8);
  for (std::uint64_t sample = 0; sample < samples; ++sample) {
    nmb::Block block = out.block(sample_name(sample));
    block.samples(1);
    if (one_object) {
      put<std::int64_t>(block, "edges", {2, 8}, sample);
      continue;
    }
    for (const char* const plane : kPlanes) {
      const std::string suffix = std::string("_") + plane;
      const auto n = static_cast<std::uint64_t>(std::clamp(nodes(random), 20.0, 8000.0));
      put<float>(block, "x" + suffix, {n, 9}, sample);
      put<std::int64_t>(block, "y_s" + suffix, {n}, sample);
      put<std::int64_t>(block, "y_i" + suffix, {n}, sample);
      put<std::int64_t>(block, "edge_index" + suffix, {2, 6 * n}, sample);
      put<std::int64_t>(block, "edge_index_3d" + suffix, {2, n / 2}, sample);
    }
    put<std::int64_t>(block, "n_sp", {}, sample);
  }
  out.close();
}

// Reads samples in batches; each thread takes a batch at a time. Returns the bytes of all values.
std::uint64_t read(const nmb::Reader& in, const std::vector<std::uint64_t>& order,
                   std::size_t batch, unsigned threads) {
  std::atomic<std::size_t> next{0};
  std::atomic<std::uint64_t> bytes{0};
  const auto work = [&] {
    std::vector<nmb::ElementRequest> requests;
    std::vector<std::byte> memory;  // a batch takes the memory of the batch before
    std::vector<std::pair<std::size_t, std::size_t>> places;  // of each array: position, bytes
    for (std::size_t first; (first = batch * next++) < order.size();) {
      requests.clear();
      places.clear();
      std::size_t used = 0;
      for (std::size_t i = first; i < std::min(first + batch, order.size()); ++i)
        for (const nmb::VarView& var : in.block_at(order[i]).vars()) {
          std::uint64_t size = *var.type() == nmb::Type::kFloat ? 4 : 8;
          for (const std::uint64_t length : var.shape()) size *= length;
          requests.push_back({var, {}, {}, nullptr});
          places.emplace_back(used, size);
          used += (size + 63) / 64 * 64;
          bytes += size;
        }
      if (memory.size() < used) memory.resize(used);
      for (std::size_t i = 0; i < requests.size(); ++i)
        requests[i].out = std::span(memory).subspan(places[i].first, places[i].second);
      in.read_elements(requests);
    }
  };
  std::vector<std::jthread> others;
  for (unsigned i = 1; i < threads; ++i) others.emplace_back(work);
  work();
  others.clear();
  return bytes;
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("Makes and reads samples with libnmb.", "bench_samples");
  std::string path;
  std::uint64_t samples = 35'530, count = 20'000;
  std::size_t batch = 1;
  unsigned threads = 1;
  bool one_object = false, unverified = false;
  app.require_subcommand(1);
  CLI::App* const making = app.add_subcommand("make", "writes FILE");
  making->add_option("FILE", path)->required();
  making->add_option("--samples", samples);
  making->add_flag("--one-object", one_object, "samples of one variable with 16 numbers");
  CLI::App* const reading = app.add_subcommand("read", "prints samples a second");
  reading->add_option("FILE", path)->required();
  reading->add_option("--count", count, "samples to read");
  reading->add_option("--batch", batch, "samples that are read together")
      ->check(CLI::Range(1, 1 << 20));
  reading->add_option("--threads", threads)->check(CLI::Range(1, 64));
  reading->add_flag("--unverified", unverified);
  CLI11_PARSE(app, argc, argv);

  if (*making) {
    make(path, samples, one_object);
    return 0;
  }
  nmb::ReadOptions options;
  options.cache_bytes = std::size_t{1} << 30;
  if (unverified) options.unverified = nmb::Unverified::kPartsOfPieces;
  const nmb::Reader in(path, options);
  std::vector<std::uint64_t> order(in.totals().blocks);
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  std::shuffle(order.begin(), order.end(), std::mt19937_64(2));
  order.resize(std::min<std::size_t>(order.size(), count));
  const auto start = std::chrono::steady_clock::now();
  const std::uint64_t bytes = read(in, order, batch, threads);
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::printf("{\"samples_per_second\": %.0f, \"bytes\": %ju}\n",
              static_cast<double>(order.size()) / took.count(), std::uintmax_t{bytes});
  std::fflush(stdout);
  std::_Exit(0);  // without giving back the memory of the cache
} catch (const std::exception& error) {
  std::fprintf(stderr, "bench_samples: %s\n", error.what());
  return 2;
}
