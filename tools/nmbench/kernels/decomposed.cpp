// Writes arrays whose elements are scattered over the processes, as climate models do: each process
// has many short runs of each array, which a decomposition lists. E3SM-IO has such files.
#include <algorithm>
#include <fstream>

#include "kernel.h"

namespace nmb::bench {

namespace {

// The shape of an array without its records, and the runs of one share of it. A file of a
// decomposition has 64-bit integers: the number of dimensions, their lengths, the number of shares,
// how many runs each has; then for each run, in this order, its first element and its length.
class Decomposition {
 public:
  explicit Decomposition(const std::string& path) : file_(path, std::ios::binary), path_(path) {
    lengths_ = read(number());
    runs_ = read(number());
  }
  const std::vector<std::uint64_t>& lengths() const { return lengths_; }
  std::uint64_t elements() const {
    std::uint64_t n = 1;
    for (const std::uint64_t length : lengths_) n *= length;
    return n;
  }
  // The runs of shares that process `rank` of `size` writes, in ascending order; none crosses the
  // last dimension's end. A selection begins with the index of a record.
  std::vector<Slab> of_process(std::uint64_t rank, std::uint64_t size) {
    const std::uint64_t shares = runs_.size();
    const auto first = runs_.begin() + static_cast<std::ptrdiff_t>(shares * rank / size);
    const auto behind = runs_.begin() + static_cast<std::ptrdiff_t>(shares * (rank + 1) / size);
    std::uint64_t before = 0, mine = 0;
    for (auto it = runs_.begin(); it != first; ++it) before += *it;
    for (auto it = first; it != behind; ++it) mine += *it;
    const std::size_t head = 2 + lengths_.size() + runs_.size();
    file_.seekg(static_cast<std::streamoff>((head + 2 * before) * sizeof(std::uint64_t)));
    const std::vector<std::uint64_t> numbers = read(2 * mine);
    std::vector<std::pair<std::uint64_t, std::uint64_t>> runs;
    for (std::size_t i = 0; i < numbers.size(); i += 2)
      runs.emplace_back(numbers[i], numbers[i + 1]);
    std::sort(runs.begin(), runs.end());
    std::vector<Slab> slabs;
    for (auto [element, length] : runs) {
      if (element + length > elements())
        throw std::runtime_error(path_ + ": found a run behind the end of the array");
      while (length > 0) {
        const std::uint64_t part = std::min(length, lengths_.back() - element % lengths_.back());
        slabs.push_back(slab_at(element, part));
        element += part;
        length -= part;
      }
    }
    return slabs;
  }

 private:
  Slab slab_at(std::uint64_t element, std::uint64_t length) const {
    Slab slab;
    slab.start.assign(lengths_.size() + 1, 0);
    slab.count.assign(lengths_.size() + 1, 1);
    for (std::size_t i = lengths_.size(); i-- > 0; element /= lengths_[i])
      slab.start[i + 1] = element % lengths_[i];
    slab.count.back() = length;
    return slab;
  }
  std::uint64_t number() { return read(1)[0]; }
  std::vector<std::uint64_t> read(std::uint64_t count) {
    std::vector<std::uint64_t> numbers(count);
    if (!file_.read(reinterpret_cast<char*>(numbers.data()),
                    static_cast<std::streamsize>(count * sizeof(std::uint64_t))))
      throw std::runtime_error(path_ + ": is shorter than it says");
    return numbers;
  }

  std::ifstream file_;
  std::string path_;
  std::vector<std::uint64_t> lengths_, runs_;
};

// The value of an element of an array, different for all.
double value_of(std::uint64_t record, std::uint64_t array, std::uint64_t element) {
  return static_cast<double>((record * 31 + array * 17 + element * 7) % (1 << 22));
}
std::uint64_t element_of(const Slab& slab, const std::vector<std::uint64_t>& lengths) {
  std::uint64_t element = 0;
  for (std::size_t i = 0; i < lengths.size(); ++i)
    element = element * lengths[i] + slab.start[i + 1];
  return element;
}

// Arrays of the same decomposition and type.
struct Kind {
  std::vector<ArrayShape> shapes{};
  std::vector<int> arrays{};
  std::vector<Slab> runs{};
  std::uint64_t first = 0;  // number of the first array, of all
  std::size_t size() const { return element_size(shapes[0].element); }
};

// Values of the runs of an array, in the type of the array.
void fill(const Kind& kind, std::uint64_t record, std::uint64_t array,
          std::vector<std::byte>* out) {
  const std::vector<std::uint64_t> lengths(kind.shapes[0].lengths.begin() + 1,
                                           kind.shapes[0].lengths.end());
  out->clear();
  for (const Slab& run : kind.runs) {
    const std::uint64_t element = element_of(run, lengths);
    for (std::uint64_t i = 0; i < run.count.back(); ++i) {
      const double value = value_of(record, array, element + i);
      const auto small = static_cast<float>(value);
      const auto* bytes = kind.size() == 4 ? reinterpret_cast<const std::byte*>(&small)
                                           : reinterpret_cast<const std::byte*>(&value);
      out->insert(out->end(), bytes, bytes + kind.size());
    }
  }
}

// Each process reads whole arrays, one in so many.
void verify(Run& run, const std::vector<Kind>& kinds, std::uint64_t records) {
  run.barrier();
  FileOptions alone = run.options;
  alone.file_per_process = true;
  run.backend.open(run.path, alone, false);
  std::vector<std::byte> values, expected;
  for (Kind kind : kinds) {
    Slab whole;
    whole.start.assign(kind.shapes[0].lengths.size(), 0);
    whole.count = kind.shapes[0].lengths;
    whole.count[0] = 1;
    // Row by row: a run for each.
    const std::uint64_t row = whole.count.back(), elements = whole.elements();
    kind.runs.clear();
    for (std::uint64_t element = 0; element < elements; element += row) {
      Slab one = whole;
      std::fill(one.count.begin(), one.count.end(), 1);
      one.count.back() = row;
      std::uint64_t left = element;
      for (std::size_t i = whole.count.size(); i-- > 1; left /= whole.count[i])
        one.start[i] = left % whole.count[i];
      kind.runs.push_back(one);
    }
    for (std::size_t i = 0; i < kind.shapes.size(); ++i) {
      if ((kind.first + i) % static_cast<std::uint64_t>(run.size) !=
          static_cast<std::uint64_t>(run.rank))
        continue;
      ArrayShape shape = kind.shapes[i];
      const int array = run.backend.find_array(shape);
      for (std::uint64_t record = 0; record < records; ++record) {
        values.assign(elements * kind.size(), std::byte{});
        whole.start[0] = record;
        run.backend.get(array, whole, values.data());
        fill(kind, record, kind.first + i, &expected);
        check_same(values == expected, "values of " + shape.name);
      }
      run.backend.release(array);
    }
  }
  run.backend.close();
  run.row["verified"] = true;
}

}  // namespace

void run_decomposed(Run& run) {
  // How many arrays each decomposition has, and the size of an element.
  const std::vector<std::uint64_t> counts = run.job.numbers("counts"),
                                   sizes = run.job.numbers("element_sizes");
  const std::vector<std::string> paths = run.job.texts("decompositions");
  const std::uint64_t records = run.job.number("records", 1);
  const std::uint64_t small = run.job.number("small_arrays", 0);  // that process 0 writes
  const bool verifies = run.job.flag("verify");
  run.job.check_all_read();
  if (counts.size() != paths.size() || sizes.size() != paths.size())
    throw std::runtime_error(
        "counts and element_sizes: expected one number for each decomposition");
  run.check_shares_file();
  const Backend::Traits& traits = run.backend.traits();
  if (!traits.arrays) throw Refused("has no arrays that are read and written in parts");
  if (!traits.grows) throw Refused("has no dimensions that grow");

  std::vector<Kind> kinds;
  std::uint64_t arrays = 0, elements = 0, runs = 0;
  for (std::size_t d = 0; d < paths.size(); ++d) {
    Decomposition decomposition(paths[d]);
    Kind kind;
    kind.first = arrays;
    kind.runs = decomposition.of_process(static_cast<std::uint64_t>(run.rank),
                                         static_cast<std::uint64_t>(run.size));
    ArrayShape shape;
    shape.group = "history";
    shape.element = sizes[d] == 4 ? Element::kFloat : Element::kDouble;
    shape.lengths = decomposition.lengths();
    shape.lengths.insert(shape.lengths.begin(), 0);
    shape.unlimited = true;
    for (std::uint64_t i = 0; i < counts[d]; ++i) {
      shape.name = "D" + std::to_string(d + 1) + "_" + std::to_string(i);
      kind.shapes.push_back(shape);
    }
    if (kind.shapes.empty()) continue;
    for (const Slab& one : kind.runs) elements += one.elements() * counts[d] * records;
    runs += kind.runs.size() * counts[d] * records;
    arrays += counts[d];
    kinds.push_back(std::move(kind));
  }

  run.barrier();
  run.meter.start();
  run.backend.create(run.path, run.options);
  run.meter.phase("create");
  std::vector<int> all, alone;
  for (Kind& kind : kinds)
    for (const ArrayShape& shape : kind.shapes) {
      kind.arrays.push_back(run.backend.define_array(shape));
      all.push_back(kind.arrays.back());
    }
  for (std::uint64_t i = 0; i < small; ++i) {
    ArrayShape shape;
    shape.group = "history";
    shape.name = "small_" + std::to_string(i);
    shape.element = Element::kDouble;
    shape.lengths = {1};
    alone.push_back(run.backend.define_array(shape));
  }
  run.backend.end_define();
  run.meter.phase("metadata");
  std::vector<std::byte> values;
  for (std::uint64_t record = 0; record < records; ++record) {
    if (traits.grows_by_call) run.backend.extend(all, record + 1);
    run.meter.phase("data");
    std::vector<std::vector<std::byte>> kept;  // until complete()
    for (Kind& kind : kinds) {
      for (Slab& one : kind.runs) one.start[0] = record;
      for (std::size_t i = 0; i < kind.arrays.size(); ++i) {
        fill(kind, record, kind.first + i, &values);
        kept.push_back(values);
      }
    }
    run.meter.skip();
    std::size_t next = 0;
    for (const Kind& kind : kinds)
      for (const int array : kind.arrays)
        run.backend.put_many(array, kind.runs, kept[next++].data(), kind.size());
    run.backend.complete();
    run.meter.phase("data");
  }
  const double zero = 0;
  std::vector<Backend::Put> puts;
  if (run.rank == 0)
    for (const int array : alone) puts.push_back({array, {{0}, {1}}, &zero});
  run.backend.put_own(puts);
  run.meter.phase("data");
  if (run.options.sync) {
    run.backend.commit();
    run.meter.phase("commit");
  }
  run.backend.close();
  run.meter.phase("close");
  std::uint64_t bytes = 0;
  for (const Kind& kind : kinds)
    for (const Slab& one : kind.runs)
      bytes += one.elements() * kind.shapes.size() * kind.size() * records;
  run.row["bytes"] = bytes;
  run.row["operations"] = runs;
  run.row["counts"] = {{"elements", elements}, {"runs", runs}};
  if (verifies) verify(run, kinds, records);
}

}  // namespace nmb::bench
