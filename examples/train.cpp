// train IN.nmb EPOCHS THREADS reads the samples of any NMB file as a training program does. The
// index of the file says which blocks contain samples. Each epoch reads all blocks that contain
// samples, in a new random order. The threads share the work: each block is read by one thread.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <numeric>
#include <optional>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "nmb/reader.h"

namespace {

// A sum of numbers, and how many numbers it has.
struct Sum {
  double sum = 0;
  std::uint64_t count = 0;
};

// Adds the numbers of a hyperslab to a sum. Reads at most about a million numbers at a time: a
// larger hyperslab is divided along the first dimension in which it has several indexes.
void add(const nmb::VarView& variable, const nmb::Hyperslab& slab, Sum* to) {
  constexpr std::uint64_t kMost = 1 << 20;
  std::uint64_t count = 1;
  for (const std::uint64_t length : slab.count) count *= length;
  if (count > kMost) {
    std::size_t along = 0;
    while (slab.count[along] == 1) ++along;
    nmb::Hyperslab first = slab, second = slab;
    first.count[along] /= 2;
    second.start[along] += first.count[along];
    second.count[along] -= first.count[along];
    add(variable, first, to);
    return add(variable, second, to);
  }
  const std::vector<double> values = variable.read<double>(slab);
  to->sum = std::accumulate(values.begin(), values.end(), to->sum);
  to->count += count;
}

// Reads one block of samples. Instead of training a model, this function computes the mean of the
// block's numbers.
double use(const nmb::BlockView& sample) {
  Sum sum;
  for (const nmb::VarView& variable : sample.vars()) {
    const std::optional<nmb::Type> type = variable.type();
    if (!type || type == nmb::Type::kChar) continue;  // the values are not numbers
    const std::vector<std::uint64_t> shape = variable.shape();
    add(variable, {std::vector<std::uint64_t>(shape.size()), shape}, &sum);
  }
  return sum.count > 0 ? sum.sum / static_cast<double>(sum.count) : 0;
}

void train(const char* path, int epochs, unsigned threads) {
  const nmb::Reader in(path);
  std::printf("%ju samples\n", std::uintmax_t{in.totals().samples});
  std::vector<nmb::BlockView> samples = in.blocks();
  std::erase_if(samples, [](const nmb::BlockView& block) { return block.counts().samples == 0; });
  if (samples.empty()) throw std::runtime_error(std::string(path) + ": no block contains samples");
  std::mt19937_64 random(1);
  for (int epoch = 0; epoch < epochs; ++epoch) {
    std::shuffle(samples.begin(), samples.end(), random);
    std::atomic<std::size_t> next = 0;
    std::vector<double> sums(threads);
    std::vector<nmb::Status> status(threads);
    auto work = [&](unsigned thread) {
      status[thread] = nmb::caught([&] {
        for (std::size_t i; (i = next++) < samples.size();) sums[thread] += use(samples[i]);
      });
    };
    std::vector<std::thread> workers;
    for (unsigned thread = 0; thread < threads; ++thread) workers.emplace_back(work, thread);
    for (std::thread& worker : workers) worker.join();
    for (const nmb::Status& one : status) nmb::check(one);
    std::printf(
        "epoch %d: mean of means %.3f\n", epoch,
        std::accumulate(sums.begin(), sums.end(), 0.0) / static_cast<double>(samples.size()));
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4 || std::atoi(argv[3]) < 1) {
    std::fputs("usage: train IN.nmb EPOCHS THREADS\n", stderr);
    return 2;
  }
  try {
    train(argv[1], std::atoi(argv[2]), static_cast<unsigned>(std::atoi(argv[3])));
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "train: %s\n", error.what());
    return 1;
  }
}
