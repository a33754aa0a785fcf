// Kernels of arrays that processes write and read together: those of h5bench (write, read,
// overwrite, append, and its metadata stress test), values that all processes put, and many small
// arrays that all processes read (CGNS).
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <memory>
#include <random>

#include "kernel.h"

namespace nmb::bench {

namespace {

// Numbers that look random (the finaliser of SplitMix64).
constexpr std::uint64_t scattered(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

// The 4 bytes of a member of a particle. Each writing of a file has its own version.
std::uint32_t member_of(std::uint64_t element, std::size_t member, std::uint64_t version) {
  if (member == kIntegerMember) return static_cast<std::uint32_t>((element + version) & 0x7FFFFFFF);
  const auto random = scattered(element * kMembers + member + (version << 56)) >> 40;
  return std::bit_cast<std::uint32_t>(static_cast<float>(random));
}

enum class Pattern { kContiguous, kInterleaved, kStrided };

Pattern pattern_of(const std::string& word) {
  if (word == "CONTIG") return Pattern::kContiguous;
  if (word == "INTERLEAVED") return Pattern::kInterleaved;
  if (word == "STRIDED") return Pattern::kStrided;
  throw std::runtime_error("there is no pattern " + word);
}

struct Work {
  std::uint64_t steps = 1;
  std::vector<std::uint64_t> lengths;  // of a process's part
  // 0: all parts are as long; else lengths[0] is their mean, and this their standard deviation.
  double deviation = 0;
  Pattern memory = Pattern::kContiguous, file = Pattern::kContiguous;
  std::uint64_t stride = 1, block = 1, block_count = 0;
  std::vector<std::uint64_t> chunk;
  bool unlimited = false;
  int deflate = 0;
  double compute_seconds = 0;
  std::uint64_t kept_open = 0;  // steps whose arrays stay open
  bool verify = false;

  explicit Work(Job& job) {
    steps = job.number("steps", 1);
    lengths = job.numbers("lengths");
    if (lengths.empty()) throw std::runtime_error("lengths: found no numbers");
    memory = pattern_of(job.text("memory_pattern", "CONTIG"));
    file = pattern_of(job.text("file_pattern", "CONTIG"));
    stride = job.number("stride", 1);
    block = job.number("block", 1);
    block_count = job.number("block_count", 0);
    compute_seconds = job.real("compute_seconds", 0);
    kept_open = job.number("kept_open", 0);
    verify = job.flag("verify");
    if (memory == Pattern::kStrided) throw std::runtime_error("memory is not strided");
    if (file == Pattern::kStrided) {
      if (lengths.size() != 1) throw Refused("strided selections have one dimension");
      if (block == 0 || stride < block || block_count == 0 ||
          (block_count - 1) * stride + block > lengths[0])
        throw Refused("the strided selection is longer than a process's part");
    }
  }
  std::uint64_t length_of(int part) const {
    if (deviation <= 0) return lengths[0];
    std::mt19937_64 random(static_cast<std::uint64_t>(part));  // the same in all processes
    std::normal_distribution<double> normal(static_cast<double>(lengths[0]), deviation);
    return static_cast<std::uint64_t>(std::max(1.0, std::round(normal(random))));
  }
  std::uint64_t length_before(int part) const {
    std::uint64_t length = 0;
    for (int i = 0; i < part; ++i) length += length_of(i);
    return length;
  }
  // first: in the first dimension, where all processes' parts begin.
  Slab slab(int part, std::uint64_t first = 0) const {
    Slab slab;
    slab.start.assign(lengths.size(), 0);
    slab.start[0] = first + length_before(part);
    slab.count = lengths;
    slab.count[0] = length_of(part);
    if (file == Pattern::kStrided) {
      // Blocks without gaps between them are one.
      if (stride == block) {
        slab.count[0] = block_count * block;
      } else {
        slab.count[0] = block_count;
        slab.stride = {stride};
        slab.block = {block};
      }
    }
    return slab;
  }
  std::vector<ArrayShape> arrays(std::uint64_t step, int parts) const {
    ArrayShape shape;
    shape.group = "Timestep_" + std::to_string(step);
    shape.lengths = lengths;
    shape.lengths[0] = length_before(parts);
    shape.unlimited = unlimited;
    shape.chunk = chunk;
    shape.part = lengths;
    shape.deflate = deflate;
    if (file == Pattern::kInterleaved) {
      shape.name = "particles";
      shape.element = Element::kInt;
      shape.particles = true;
      return {shape};
    }
    std::vector<ArrayShape> all;
    for (std::size_t member = 0; member < kMembers; ++member) {
      shape.name = kMemberNames[member];
      shape.element = member == kIntegerMember ? Element::kInt : Element::kFloat;
      all.push_back(shape);
    }
    return all;
  }
};

// Calls visit(number of an element in the whole array) for each element of the selection, in the
// order in which memory has them. row: elements of an index of the first dimension.
template <class Visit>
void for_each_element(const Slab& slab, const std::vector<std::uint64_t>& lengths, Visit visit) {
  const std::size_t rank = slab.start.size();
  std::vector<std::uint64_t> position(rank, 0), steps(rank, 1);
  for (std::size_t i = rank; i-- > 1;) steps[i - 1] = steps[i] * lengths[i];
  const std::uint64_t count = slab.elements();
  const auto block = [&](std::size_t i) { return slab.block.empty() ? 1 : slab.block[i]; };
  for (std::uint64_t n = 0; n < count; ++n) {
    std::uint64_t element = 0;
    for (std::size_t i = 0; i < rank; ++i) {
      const std::uint64_t stride = slab.stride.empty() ? 1 : slab.stride[i];
      element +=
          steps[i] * (slab.start[i] + position[i] / block(i) * stride + position[i] % block(i));
    }
    visit(element);
    for (std::size_t i = rank; i-- > 0;) {
      if (++position[i] < slab.count[i] * block(i)) break;
      position[i] = 0;
    }
  }
}

// A process's particles, by member or by particle.
class Particles {
 public:
  Particles(const Slab& slab, const std::vector<std::uint64_t>& lengths, Pattern memory,
            std::uint64_t version) {
    const std::uint64_t count = slab.elements();
    if (memory == Pattern::kInterleaved) {
      together_.reserve(count * kMembers);
      for_each_element(slab, lengths, [&](std::uint64_t element) {
        for (std::size_t m = 0; m < kMembers; ++m)
          together_.push_back(member_of(element, m, version));
      });
      return;
    }
    for (std::size_t m = 0; m < kMembers; ++m) {
      members_[m].reserve(count);
      for_each_element(slab, lengths, [&](std::uint64_t element) {
        members_[m].push_back(member_of(element, m, version));
      });
    }
  }
  void put(Backend& backend, const std::vector<int>& arrays, const Slab& slab) const {
    const bool one = arrays.size() == 1;
    if (one && !together_.empty()) return backend.put_particles(arrays[0], slab, together_.data());
    for (std::size_t m = 0; m < kMembers; ++m) {
      if (one)
        backend.put_member(arrays[0], slab, m, members_[m].data());
      else if (together_.empty())
        backend.put(arrays[m], slab, members_[m].data());
      else
        backend.put_from_particles(arrays[m], slab, m, together_.data());
    }
  }

 private:
  std::vector<std::uint32_t> members_[kMembers], together_;
};

void compute(const Work& work, std::uint64_t step, Run& run) {
  if (work.compute_seconds <= 0 || step + 1 == work.steps)
    return;  // as h5bench: not after the last
  usleep(static_cast<useconds_t>(work.compute_seconds * 1e6));
  run.meter.phase("compute");
}

int parts_of(const Run& run) { return run.options.file_per_process ? 1 : run.size; }
int part_of(const Run& run) { return run.options.file_per_process ? 0 : run.rank; }
int next_part(const Run& run) { return run.options.file_per_process ? 0 : run.next_rank(); }

// Each process opens the file by itself, to compare.
void open_alone(Run& run) {
  FileOptions alone = run.options;
  alone.file_per_process = true;
  run.backend.open(run.path, alone, false);
}

void report_bytes(Run& run, const Work& work, std::uint64_t elements) {
  run.row["bytes"] = elements * kMembers * 4 * work.steps;
  run.row["compute_seconds"] = work.compute_seconds * static_cast<double>(work.steps - 1);
}

// Compares the next process's part with what that process put. first: where all parts begin.
void verify(Run& run, const Work& work, std::uint64_t version, int parts, std::uint64_t first = 0) {
  const Slab slab = work.slab(next_part(run), first);
  run.barrier();
  open_alone(run);
  std::vector<std::uint32_t> values;
  for (std::uint64_t step = 0; step < work.steps; ++step) {
    const std::vector<ArrayShape> shapes = work.arrays(step, parts);
    for (std::size_t m = 0; m < shapes.size(); ++m) {
      const int array = run.backend.find_array(shapes[m]);
      if (shapes[m].particles) {
        values.assign(slab.elements() * kMembers, 0);
        run.backend.get_particles(array, slab, values.data());
        std::size_t i = 0;
        for_each_element(slab, shapes[m].lengths, [&](std::uint64_t element) {
          for (std::size_t member = 0; member < kMembers; ++member)
            check_same(values[i++] == member_of(element, member, version), "particles");
        });
      } else {
        values.assign(slab.elements(), 0);
        run.backend.get(array, slab, values.data());
        std::size_t i = 0;
        for_each_element(slab, shapes[m].lengths, [&](std::uint64_t element) {
          check_same(values[i++] == member_of(element, m, version), shapes[m].name);
        });
      }
      run.backend.release(array);
    }
  }
  run.backend.close();
  run.row["verified"] = true;
}

// Closes arrays some steps after they were used.
class OpenArrays {
 public:
  OpenArrays(Run& run, std::uint64_t kept) : run_(run), kept_(kept) {}
  void add(std::vector<int> arrays) {
    steps_.push_back(std::move(arrays));
    if (steps_.size() <= kept_) return;
    for (const int array : steps_.front()) run_.backend.release(array);
    steps_.erase(steps_.begin());
    run_.meter.phase("release");
  }

 private:
  Run& run_;
  std::uint64_t kept_;
  std::vector<std::vector<int>> steps_;
};

std::vector<int> define(Run& run, const Work& work, std::uint64_t step) {
  std::vector<int> arrays;
  for (const ArrayShape& shape : work.arrays(step, parts_of(run)))
    arrays.push_back(run.backend.define_array(shape));
  return arrays;
}

void check_can(const Run& run, const Work& work) {
  const Backend::Traits& traits = run.backend.traits();
  if (!traits.arrays) throw Refused("has no arrays that are read and written in parts");
  if (work.unlimited && !traits.grows) throw Refused("has no dimensions that grow");
  if (work.deflate > 0 && !traits.compresses) throw Refused("does not compress values");
}

}  // namespace

void run_write(Run& run) {
  Work work(run.job);
  work.unlimited = run.job.flag("unlimited");
  work.deflate = static_cast<int>(run.job.number("deflate", 0));
  work.chunk = run.job.numbers("chunk");
  work.deviation = run.job.real("deviation", 0);
  run.job.check_all_read();
  if (work.deviation > 0 && (work.lengths.size() != 1 || work.file == Pattern::kStrided))
    throw Refused("parts of different lengths have one dimension, and are written whole");
  run.check_shares_file();
  check_can(run, work);
  const Slab slab = work.slab(part_of(run));
  const std::vector<ArrayShape> first = work.arrays(0, parts_of(run));
  const Particles particles(slab, first[0].lengths, work.memory, 0);

  run.barrier();
  run.meter.start();
  run.backend.create(run.path, run.options);
  run.meter.phase("create");
  const bool defines_first = run.backend.traits().defines_first;
  std::vector<std::vector<int>> defined;
  if (defines_first) {
    for (std::uint64_t step = 0; step < work.steps; ++step)
      defined.push_back(define(run, work, step));
    run.backend.end_define();
    run.meter.phase("metadata");
  }
  OpenArrays open(run, work.kept_open);
  for (std::uint64_t step = 0; step < work.steps; ++step) {
    if (!defines_first) {
      defined.push_back(define(run, work, step));
      run.meter.phase("metadata");
    }
    particles.put(run.backend, defined[step], slab);
    run.meter.phase("data");
    open.add(defined[step]);
    compute(work, step, run);
  }
  if (run.options.sync) {
    run.backend.commit();
    run.meter.phase("commit");
  }
  run.backend.close();
  run.meter.phase("close");
  report_bytes(run, work, slab.elements());
  run.row["definitions"] = defines_first ? "before the first step" : "in each step";
  if (work.verify) verify(run, work, 0, parts_of(run));
}

void run_read(Run& run) {
  const Work work(run.job);
  const std::string option = run.job.text("read", "FULL");
  const std::uint64_t partial = run.job.number("partial", 0);
  const std::vector<std::uint64_t> blocks = run.job.numbers("blocks"),
                                   strides = run.job.numbers("strides");
  const std::uint64_t written_parts =
      run.job.number("written_parts", static_cast<std::uint64_t>(parts_of(run)));
  run.job.check_all_read();
  run.check_shares_reading();
  check_can(run, work);
  if (work.memory != Pattern::kContiguous || work.file == Pattern::kInterleaved)
    throw Refused("reads only contiguous memory from contiguous files, as h5bench does");

  // What this process reads: one selection, or rank 0 several.
  std::vector<Slab> slabs;
  const bool alone = option == "LDC" || option == "RDC" || option == "PRL" || option == "CS";
  if (option == "FULL" || option == "STRIDED") {
    if ((option == "STRIDED") != (work.file == Pattern::kStrided))
      throw Refused("reading with strides needs FILE_PATTERN STRIDED and READ_OPTION STRIDED");
    slabs = {work.slab(part_of(run))};
  } else if (option == "PARTIAL") {
    if (work.lengths.size() != 1) throw Refused("reading a part has one dimension");
    if (partial == 0 || partial > work.lengths[0])
      throw Refused("the part to read is longer than a process's part");
    slabs = {work.slab(part_of(run))};
    slabs[0].count[0] = partial;
  } else if (alone) {
    if (work.lengths.size() != 2 || blocks.size() < 2)
      throw Refused(option + " has two dimensions and block sizes");
    const std::uint64_t x = work.lengths[0], y = work.lengths[1], w = blocks[0], h = blocks[1];
    if (w == 0 || h == 0 || w > x || 2 * h > y)
      throw Refused(option + ": blocks are longer than the array");
    if (option == "LDC") slabs = {{{0, 0}, {w, h}}, {{x - w, y - h}, {w, h}}};
    if (option == "RDC") slabs = {{{0, y - h}, {w, h}}, {{x - w, 0}, {w, h}}};
    if (option == "PRL")
      slabs = {{{0, 0}, {x, h}},
               {{0, y - h}, {x, h}},
               {{0, h}, {w, y - 2 * h}},
               {{x - w, h}, {w, y - 2 * h}}};
    if (option == "CS") {
      if (strides.size() < 2 || strides[0] < w || strides[1] < h)
        throw Refused("CS needs strides that are not shorter than the blocks");
      for (std::uint64_t i = 0, j = 0; i + w <= x && j + h <= y; i += strides[0], j += strides[1])
        slabs.push_back({{i, j}, {w, h}});
    }
    if (run.rank != 0) slabs.clear();
    run.options.collective_data = false;
  } else {
    throw std::runtime_error("there is no READ_OPTION " + option);
  }
  std::uint64_t elements = 0;
  for (const Slab& slab : slabs) elements += slab.elements();
  // Memory that nothing has touched, as h5bench's: the first read takes the pages.
  std::unique_ptr<std::uint32_t[]> members[kMembers];
  for (auto& values : members) values = std::make_unique_for_overwrite<std::uint32_t[]>(elements);
  bool right = true;

  run.barrier();
  run.meter.start();
  run.backend.open(run.path, run.options, false);
  run.meter.phase("open");
  OpenArrays open(run, work.kept_open);
  for (std::uint64_t step = 0; step < work.steps; ++step) {
    const std::vector<ArrayShape> shapes = work.arrays(step, static_cast<int>(written_parts));
    std::vector<int> arrays;
    for (const ArrayShape& shape : shapes) arrays.push_back(run.backend.find_array(shape));
    run.meter.phase("metadata");
    for (std::size_t m = 0; m < arrays.size(); ++m) {
      if (slabs.size() == 1)
        run.backend.get(arrays[m], slabs[0], members[m].get());
      else if (!slabs.empty())
        run.backend.get_many(arrays[m], slabs, reinterpret_cast<std::byte*>(members[m].get()), 4);
    }
    run.meter.phase("data");
    open.add(arrays);
    if (work.verify) {
      for (std::size_t m = 0; m < arrays.size(); ++m) {
        std::size_t i = 0;
        for (const Slab& slab : slabs)
          for_each_element(slab, shapes[m].lengths, [&](std::uint64_t element) {
            right &= members[m][i++] == member_of(element, m, 0);
          });
        std::fill_n(members[m].get(), elements, 0);
      }
      run.meter.skip();
    }
    compute(work, step, run);
  }
  run.backend.close();
  run.meter.phase("close");
  report_bytes(run, work, elements);
  if (!work.verify) return;
  check_same(right, "particles");
  run.row["verified"] = true;
}

namespace {

// Puts values into arrays of a file that there is: over those that there are, or behind them.
void run_put_again(Run& run, bool appends) {
  Work work(run.job);
  work.unlimited = appends;
  run.job.check_all_read();
  run.check_shares_file();
  check_can(run, work);
  if (work.memory != Pattern::kContiguous || work.file != Pattern::kContiguous)
    throw Refused("overwrites and appends only contiguous values, as h5bench does");
  const int parts = parts_of(run), parts_after = appends ? 2 * parts : parts;
  const std::uint64_t first = appends ? work.length_before(parts) : 0, version = appends ? 0 : 1;
  const Slab slab = work.slab(part_of(run), first);
  const Particles particles(slab, work.arrays(0, parts_after)[0].lengths, work.memory, version);
  run.barrier();
  run.meter.start();
  run.backend.open(run.path, run.options, true);
  run.meter.phase("open");
  OpenArrays open(run, work.kept_open);
  for (std::uint64_t step = 0; step < work.steps; ++step) {
    std::vector<int> arrays;
    for (const ArrayShape& shape : work.arrays(step, parts))
      arrays.push_back(run.backend.find_array(shape));
    if (appends) run.backend.extend(arrays, 2 * first);
    run.meter.phase("metadata");
    particles.put(run.backend, arrays, slab);
    run.meter.phase("data");
    open.add(arrays);
    compute(work, step, run);
  }
  run.backend.close();
  run.meter.phase("close");
  report_bytes(run, work, slab.elements());
  if (!work.verify) return;
  verify(run, work, version, parts_after, first);
  if (appends) verify(run, work, 0, parts_after);  // what was there before
}

}  // namespace

void run_overwrite(Run& run) { run_put_again(run, false); }
void run_append(Run& run) { run_put_again(run, true); }

// h5bench's `metadata`: steps and arrays of small matrices that a grid of processes writes and
// reads.
void run_step_arrays(Run& run) {
  const std::uint64_t steps = run.job.number("steps", 20), arrays = run.job.number("arrays", 500);
  std::uint64_t rows = run.job.number("rows", 100), columns = run.job.number("columns", 200);
  const std::uint64_t grid_rows = run.job.number("process_rows", 1);
  const std::uint64_t grid_columns = run.job.number("process_columns", 1);
  const std::uint64_t dimensions = run.job.number("dataset_rank", 4);
  const bool steps_slowest = run.job.text("slowest", "step") == "step";
  const bool chunked = run.job.flag("chunked");
  const bool strong = run.job.flag("strong");  // rows and columns are the whole matrix's
  const bool verify = run.job.flag("verify");
  run.job.check_all_read();
  run.check_shares_file();
  if (!run.backend.traits().arrays)
    throw Refused("has no arrays that are read and written in parts");
  if (grid_rows * grid_columns != static_cast<std::uint64_t>(run.size))
    throw Refused("the grid of processes is " + std::to_string(grid_rows) + " x " +
                  std::to_string(grid_columns) + ", but there are " + std::to_string(run.size) +
                  " processes");
  if (dimensions < 2 || dimensions > 4) throw Refused("dataset-rank is 2, 3 or 4");
  if (strong) {
    if (rows % grid_rows != 0 || columns % grid_columns != 0)
      throw Refused("rows and columns cannot be divided among the processes");
    rows /= grid_rows;
    columns /= grid_columns;
  }
  const std::uint64_t slow = steps_slowest ? steps : arrays, fast = steps_slowest ? arrays : steps;
  const std::string slow_name = steps_slowest ? "step=" : "array=";
  const std::string fast_name = steps_slowest ? "array=" : "step=";

  // The matrix of (s, f) is in the array shape_of(s, f), at index place(s, f).
  const auto shape_of = [&](std::uint64_t s, std::uint64_t f) {
    ArrayShape shape;
    shape.element = Element::kDouble;
    if (dimensions == 4) {
      shape.group = "all", shape.name = "dataset", shape.lengths = {slow, fast};
    } else if (dimensions == 3) {
      shape.group = "all", shape.name = slow_name + std::to_string(s), shape.lengths = {fast};
    } else {
      shape.group = slow_name + std::to_string(s), shape.name = fast_name + std::to_string(f);
    }
    const std::size_t outer = shape.lengths.size();
    shape.lengths.push_back(rows * grid_rows);
    shape.lengths.push_back(columns * grid_columns);
    if (chunked) {
      shape.chunk.assign(outer, 1);
      shape.chunk.push_back(rows);
      shape.chunk.push_back(columns);
    }
    return shape;
  };
  const auto slab_of = [&](std::uint64_t s, std::uint64_t f, int of) {
    const auto rank = static_cast<std::uint64_t>(of);
    Slab slab;
    if (dimensions == 4) slab.start.push_back(s), slab.count.push_back(1);
    if (dimensions >= 3) slab.start.push_back(f), slab.count.push_back(1);
    slab.start.insert(slab.start.end(),
                      {rank / grid_columns * rows, rank % grid_columns * columns});
    slab.count.insert(slab.count.end(), {rows, columns});
    return slab;
  };
  const auto each = [&](auto visit) {
    for (std::uint64_t s = 0; s < slow; ++s)
      for (std::uint64_t f = 0; f < fast; ++f) visit(s, f);
  };
  const auto is_first = [&](std::uint64_t s, std::uint64_t f) {
    return dimensions == 2 || (f == 0 && (dimensions == 3 || s == 0));
  };
  const auto value = [&](std::uint64_t s, std::uint64_t f, int rank) {
    return static_cast<double>(s * fast + f) + static_cast<double>(rank) / 1024;
  };
  std::vector<double> values(rows * columns);

  run.barrier();
  run.meter.start();
  run.backend.create(run.path, run.options);
  run.meter.phase("create");
  const bool defines_first = run.backend.traits().defines_first;
  std::vector<int> defined;
  const auto define_new = [&](std::uint64_t s, std::uint64_t f) {
    if (is_first(s, f)) defined.push_back(run.backend.define_array(shape_of(s, f)));
  };
  if (defines_first) {
    each(define_new);
    run.backend.end_define();
    run.meter.phase("metadata");
  }
  std::size_t next = 0;
  // A phase ends only where the other begins: reading the counters at each put of a few bytes would
  // take longer than the put.
  each([&](std::uint64_t s, std::uint64_t f) {
    if (is_first(s, f)) {
      if (!defines_first) {
        if (next) run.meter.phase("data");
        define_new(s, f);
        run.meter.phase("metadata");
      }
      ++next;
    }
    std::fill(values.begin(), values.end(), value(s, f, run.rank));
    run.backend.put(defined[next - 1], slab_of(s, f, run.rank), values.data());
  });
  run.meter.phase("data");
  run.backend.close();
  run.meter.phase("close");
  run.barrier();
  run.meter.skip();

  run.backend.open(run.path, run.options, false);
  run.meter.phase("open");
  // Reads the matrices of a process, and compares them outside of the phases.
  bool right = true;
  const auto read_all = [&](int rank) {
    int array = -1;
    each([&](std::uint64_t s, std::uint64_t f) {
      if (is_first(s, f)) {
        if (array >= 0) {
          run.meter.phase("read_data");
          run.backend.release(array);
        }
        array = run.backend.find_array(shape_of(s, f));
        run.meter.phase("read_metadata");
      }
      run.backend.get(array, slab_of(s, f, rank), values.data());
      if (!verify) return;
      run.meter.phase("read_data");
      for (const double read : values) right &= read == value(s, f, rank);
      run.meter.skip();
    });
  };
  read_all(run.rank);
  run.meter.phase("read_data");
  run.backend.close();
  run.meter.phase("read_close");
  run.row["bytes"] = steps * arrays * rows * columns * sizeof(double);
  if (!verify) return;
  const Meter measured = run.meter;
  open_alone(run);
  read_all(run.next_rank());
  run.backend.close();
  run.meter = measured;
  check_same(right, "matrices");
  run.row["verified"] = true;
}

// All processes put the same values into the same small arrays.
void run_same_values(Run& run) {
  const std::uint64_t arrays = run.job.number("arrays", 1000), length = run.job.number("length", 5);
  const bool verify = run.job.flag("verify");
  run.job.check_all_read();
  run.check_shares_file();
  if (!run.backend.traits().arrays)
    throw Refused("has no arrays that are read and written in parts");
  run.options.collective_data = true;
  const auto shape_of = [&](std::uint64_t i) {
    return ArrayShape{"same", "a" + std::to_string(i), Element::kDouble, {length}};
  };
  const auto values_of_array = [&](std::uint64_t i) {
    return std::vector<double>(length, static_cast<double>(i) + 0.5);
  };
  const Slab slab{{0}, {length}};
  run.barrier();
  run.meter.start();
  run.backend.create(run.path, run.options);
  std::vector<int> defined;
  for (std::uint64_t i = 0; i < arrays; ++i)
    defined.push_back(run.backend.define_array(shape_of(i)));
  run.backend.end_define();
  run.meter.phase("create");
  for (std::uint64_t i = 0; i < arrays; ++i)
    run.backend.put(defined[i], slab, values_of_array(i).data());
  run.meter.phase("data");
  run.backend.close();
  run.meter.phase("close");
  run.row["bytes"] = arrays * length * sizeof(double);
  if (!verify) return;
  run.barrier();
  open_alone(run);
  std::vector<double> read(length);
  for (std::uint64_t i = 0; i < arrays; ++i) {
    const int array = run.backend.find_array(shape_of(i));
    run.backend.get(array, slab, read.data());
    run.backend.release(array);
    check_same(read == values_of_array(i), "array " + std::to_string(i));
  }
  run.backend.close();
  run.row["verified"] = true;
}

std::vector<ArrayShape> small_arrays(std::uint64_t bases, std::uint64_t zones) {
  std::vector<ArrayShape> shapes = {{"Library", "Version", Element::kFloat, {1}}};
  const auto numbered = [](const char* text, std::uint64_t n) { return text + std::to_string(n); };
  for (std::uint64_t b = 0; b < bases; ++b) {
    shapes.push_back({numbered("Base", b), "Dimensions", Element::kInt, {2}});
    for (std::uint64_t z = 0; z < zones; ++z) {
      const std::string zone = numbered("Base", b) + "/" + numbered("Zone", z);
      shapes.push_back({zone, "Sizes", Element::kInt64, {9}});
      shapes.push_back({zone, "Range", Element::kDouble, {5}});
    }
  }
  return shapes;
}

std::vector<std::byte> values_of_small_array(const ArrayShape& shape, std::size_t number) {
  std::vector<std::byte> bytes(shape.lengths[0] * element_size(shape.element));
  // Bytes that are no special number in any type.
  for (std::size_t i = 0; i < bytes.size(); ++i)
    bytes[i] = static_cast<std::byte>((number + i) % 100);
  return bytes;
}

// The CGNS case: bases with zones; every process reads all of their small arrays when it opens the
// file. `step`: write, or read in one of three ways.
void run_small_arrays(Run& run) {
  const std::uint64_t bases = run.job.number("bases", 128), zones = run.job.number("zones", 32);
  const std::string step = run.job.text("step", "write"), way = run.job.text("way", "each");
  const bool verify = run.job.flag("verify");
  run.job.check_all_read();
  if (!run.backend.traits().arrays)
    throw Refused("has no arrays that are read and written in parts");
  const std::vector<ArrayShape> shapes = small_arrays(bases, zones);
  const auto bytes_of = [](const ArrayShape& shape) {
    return shape.lengths[0] * element_size(shape.element);
  };
  std::uint64_t all_bytes = 0;
  for (const ArrayShape& shape : shapes) all_bytes += bytes_of(shape);
  run.row["bytes"] = all_bytes;
  run.row["counts"] = {{"arrays", shapes.size()}};

  if (step == "write") {
    if (run.size > 1) throw Refused("the file is written by one process");
    run.meter.start();
    run.backend.create(run.path, run.options);
    std::vector<int> defined;
    for (const ArrayShape& shape : shapes) defined.push_back(run.backend.define_array(shape));
    run.backend.end_define();
    run.meter.phase("create");
    for (std::size_t i = 0; i < shapes.size(); ++i)
      run.backend.put(defined[i], {{0}, shapes[i].lengths},
                      values_of_small_array(shapes[i], i).data());
    run.meter.phase("data");
    run.backend.close();
    run.meter.phase("close");
    return;
  }
  if (step != "read") throw std::runtime_error("there is no step " + step);
  const bool one_reads = way == "one_reads";
  if (way == "each") run.options.file_per_process = true;  // opens by itself
  if (way == "collective") run.options.collective_data = run.options.collective_metadata = true;
  if (one_reads) run.options.file_per_process = true;
  if (way != "each" && way != "collective" && !one_reads)
    throw std::runtime_error("there is no way " + way);
  run.check_shares_reading();
  const bool reads = !one_reads || run.rank == 0;
  std::vector<std::byte> values(all_bytes);
  run.barrier();
  run.meter.start();
  if (reads) run.backend.open(run.path, run.options, false);
  run.meter.phase("open");
  std::vector<int> arrays;
  if (way == "collective") {
    arrays = run.backend.find_same(shapes);
    run.meter.phase("find");
  }
  std::byte* to = values.data();
  for (std::size_t i = 0; reads && i < shapes.size(); ++i) {
    const Slab whole{{0}, shapes[i].lengths};
    if (way == "collective") {
      run.backend.get_same(arrays[i], whole, to);
      run.backend.release(arrays[i]);
    } else {
      const int array = run.backend.find_array(shapes[i]);
      run.backend.get(array, whole, to);
      run.backend.release(array);
    }
    to += bytes_of(shapes[i]);
  }
  if (way == "collective") run.backend.complete();
  run.meter.phase("read");
  if (one_reads) {
    MPI_Bcast(values.data(), static_cast<int>(all_bytes), MPI_BYTE, 0, MPI_COMM_WORLD);
    run.meter.phase("send");
  }
  if (reads) run.backend.close();
  run.meter.phase("close");
  if (!verify) return;
  to = values.data();
  for (std::size_t i = 0; i < shapes.size(); to += bytes_of(shapes[i++])) {
    const std::vector<std::byte> expected = values_of_small_array(shapes[i], i);
    check_same(std::equal(expected.begin(), expected.end(), to), shapes[i].name);
  }
  run.row["verified"] = true;
}

// Blocks of four arrays that grow by a record in each step, which ends with a commit.
void run_commits(Run& run) {
  const std::uint64_t blocks = run.job.number("blocks", 1000), steps = run.job.number("steps", 300);
  const std::uint64_t length = run.job.number("length", 8);
  const bool verify = run.job.flag("verify");
  run.job.check_all_read();
  run.check_shares_file();
  const Backend::Traits& traits = run.backend.traits();
  if (!traits.arrays) throw Refused("has no arrays that are read and written in parts");
  if (!traits.grows) throw Refused("has no dimensions that grow");
  constexpr std::uint64_t kArrays = 4;
  const auto share = [&](int rank) {
    return blocks * static_cast<std::uint64_t>(rank) / static_cast<std::uint64_t>(run.size);
  };
  const std::uint64_t first = share(run.rank), behind = share(run.rank + 1);
  const auto shape_of = [&](std::uint64_t block, std::uint64_t array) {
    return ArrayShape{"block" + std::to_string(block),
                      "v" + std::to_string(array),
                      Element::kDouble,
                      {0, length},
                      true};
  };
  const auto value = [](std::uint64_t block, std::uint64_t array, std::uint64_t step) {
    return static_cast<double>(step * 1000 + block % 100 * 10 + array);
  };
  std::vector<double> seconds, values((behind - first) * kArrays * length);
  std::vector<Backend::Put> puts;

  run.barrier();
  run.meter.start();
  run.backend.create(run.path, run.options);
  // Where definitions are collective, each process has all arrays, and puts values into its own.
  const bool all = traits.collective_definitions;
  const std::uint64_t from = all ? 0 : first, to = all ? blocks : behind;
  std::vector<int> arrays;
  for (std::uint64_t block = from; block < to; ++block)
    for (std::uint64_t array = 0; array < kArrays; ++array)
      arrays.push_back(run.backend.define_array(shape_of(block, array)));
  run.backend.end_define();
  run.meter.phase("create");
  for (std::uint64_t step = 0; step < steps; ++step) {
    puts.clear();
    double* next = values.data();
    for (std::uint64_t block = first; block < behind; ++block) {
      for (std::uint64_t array = 0; array < kArrays; ++array, next += length) {
        std::fill(next, next + length, value(block, array, step));
        puts.push_back({arrays[(block - from) * kArrays + array], {{step, 0}, {1, length}}, next});
      }
    }
    run.barrier();
    run.meter.skip();
    const double begin = MPI_Wtime();
    if (traits.grows_by_call) run.backend.extend(arrays, step + 1);
    run.backend.put_own(puts);
    run.meter.phase("data");
    run.backend.commit();
    run.meter.phase("commit");
    seconds.push_back(MPI_Wtime() - begin);
  }
  run.backend.close();
  run.meter.phase("close");
  run.row["bytes"] = (behind - first) * kArrays * length * steps * sizeof(double);
  run.row["latency"] = percentiles(seconds);
  run.row["operations"] = steps;
  if (!verify) return;
  run.barrier();
  open_alone(run);
  std::vector<double> read(steps * length);
  const int next = run.next_rank();
  for (std::uint64_t block = share(next); block < share(next + 1); ++block) {
    for (std::uint64_t array = 0; array < kArrays; ++array) {
      const int found = run.backend.find_array(shape_of(block, array));
      run.backend.get(found, {{0, 0}, {steps, length}}, read.data());
      run.backend.release(found);
      for (std::uint64_t i = 0; i < read.size(); ++i)
        check_same(read[i] == value(block, array, i / length), "records of a block");
    }
  }
  run.backend.close();
  run.row["verified"] = true;
}

}  // namespace nmb::bench
