#include "file_type.h"

#include <algorithm>
#include <cstdint>

namespace nmb::pnetcdf {

namespace {

void add_run(MPI_Offset offset, MPI_Offset length, std::vector<FileRun>* runs) {
  if (length == 0) return;
  if (!runs->empty() && runs->back().offset + runs->back().length == offset)
    runs->back().length += length;
  else
    runs->push_back({offset, length});
}

// Frees the datatypes that MPI_Type_get_contents() has returned.
struct Contents {
  std::vector<int> ints;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Datatype> types;
  ~Contents() {
    for (MPI_Datatype& type : types) {
      int integers = 0, count = 0, inner = 0, combiner = MPI_COMBINER_NAMED;
      MPI_Type_get_envelope(type, &integers, &count, &inner, &combiner);
      if (combiner != MPI_COMBINER_NAMED) MPI_Type_free(&type);
    }
  }
};

class Flattener {
 public:
  explicit Flattener(std::vector<FileRun>* runs) : runs_(runs) {}

  int add(MPI_Datatype type, MPI_Offset base) {
    int integers = 0, addresses = 0, types = 0, combiner = 0;
    if (MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) != MPI_SUCCESS)
      return code::kMpi;
    if (combiner == MPI_COMBINER_NAMED) {
      int size = 0;
      MPI_Type_size(type, &size);
      add_run(base, size, runs_);
      return code::kOk;
    }
    Contents in;
    in.ints.resize(static_cast<std::size_t>(integers) + 1);
    in.addresses.resize(static_cast<std::size_t>(addresses) + 1);
    in.types.resize(static_cast<std::size_t>(types));
    if (MPI_Type_get_contents(type, integers, addresses, types, in.ints.data(), in.addresses.data(),
                              in.types.data()) != MPI_SUCCESS)
      return code::kMpi;
    return add_contents(combiner, in, base);
  }

 private:
  static MPI_Aint extent_of(MPI_Datatype type) {
    MPI_Aint low = 0, extent = 0;
    MPI_Type_get_extent(type, &low, &extent);
    return extent;
  }

  // Adds `count` items one after the other.
  int add_items(MPI_Datatype type, MPI_Offset base, MPI_Offset count) {
    const MPI_Aint extent = extent_of(type);
    int size = 0;
    MPI_Aint low = 0, length = 0;
    MPI_Type_size(type, &size);
    MPI_Type_get_true_extent(type, &low, &length);
    if (size == extent && size == length && low == 0) {
      add_run(base, size * count, runs_);
      return code::kOk;
    }
    for (MPI_Offset i = 0; i < count; ++i)
      if (const int failed = add(type, base + i * extent)) return failed;
    return code::kOk;
  }

  int add_subarray(const Contents& in, MPI_Offset base) {
    const auto dims = static_cast<std::size_t>(in.ints[0]);
    const int* const sizes = &in.ints[1];
    const int* const subsizes = sizes + dims;
    const int* const starts = subsizes + dims;
    const bool c_order = in.ints[1 + 3 * dims] == MPI_ORDER_C;
    const MPI_Aint extent = extent_of(in.types[0]);
    // From slow to fast.
    std::vector<std::size_t> order(dims);
    for (std::size_t i = 0; i < dims; ++i) order[i] = c_order ? i : dims - 1 - i;
    std::vector<int> index(dims, 0);
    for (const std::size_t d : order)
      if (subsizes[d] == 0) return code::kOk;
    for (;;) {
      MPI_Offset at = 0;
      for (const std::size_t d : order) at = at * sizes[d] + starts[d] + index[d];
      const std::size_t fast = order.back();
      if (const int failed = add_items(in.types[0], base + at * extent, subsizes[fast]))
        return failed;
      std::size_t k = dims - 1;
      while (k > 0 && ++index[order[k - 1]] == subsizes[order[k - 1]]) index[order[--k]] = 0;
      if (k == 0) return code::kOk;
    }
  }

  // The indexes [start, start + length) of one dimension.
  struct Indexes {
    MPI_Offset start, length;
  };

  // Adds the part of an array that a process of a grid has (MPI_Type_create_darray).
  int add_darray(const Contents& in, MPI_Offset base) {
    const auto dims = static_cast<std::size_t>(in.ints[2]);
    const int* const sizes = &in.ints[3];
    const int* const kinds = sizes + dims;
    const int* const arguments = kinds + dims;
    const int* const grid = arguments + dims;
    const bool c_order = in.ints[3 + 4 * dims] == MPI_ORDER_C;
    // The place in the grid, whose last dimension varies fastest in any order.
    std::vector<std::vector<Indexes>> own(dims);
    int rank = in.ints[1];
    for (std::size_t d = dims; d-- > 0;) {
      const MPI_Offset place = rank % grid[d], parts = grid[d], size = sizes[d];
      rank /= grid[d];
      MPI_Offset block = size;
      if (kinds[d] != MPI_DISTRIBUTE_NONE) {
        block = arguments[d];
        if (arguments[d] == MPI_DISTRIBUTE_DFLT_DARG)
          block = kinds[d] == MPI_DISTRIBUTE_BLOCK ? (size + parts - 1) / parts : 1;
      }
      if (block <= 0) return code::kOk;  // an array without elements
      for (MPI_Offset at = place * block; at < size; at += parts * block)
        own[d].push_back({at, std::min(block, size - at)});
      if (own[d].empty()) return code::kOk;
    }
    std::vector<std::size_t> order(dims);
    for (std::size_t i = 0; i < dims; ++i) order[i] = c_order ? i : dims - 1 - i;
    return add_product(in, sizes, own, order, 0, 0, base);
  }

  // Adds the elements whose first indexes are those of `row`, along dimension order[i] and faster
  // ones.
  int add_product(const Contents& in, const int* sizes,
                  const std::vector<std::vector<Indexes>>& own,
                  const std::vector<std::size_t>& order, std::size_t i, MPI_Offset row,
                  MPI_Offset base) {
    const std::size_t d = order[i];
    const MPI_Aint extent = extent_of(in.types[0]);
    for (const Indexes& part : own[d]) {
      if (i + 1 == order.size()) {
        const MPI_Offset at = row * sizes[d] + part.start;
        if (const int failed = add_items(in.types[0], base + at * extent, part.length))
          return failed;
        continue;
      }
      for (MPI_Offset k = 0; k < part.length; ++k)
        if (const int failed =
                add_product(in, sizes, own, order, i + 1, row * sizes[d] + part.start + k, base))
          return failed;
    }
    return code::kOk;
  }

  int add_contents(int combiner, const Contents& in, MPI_Offset base) {
    const auto block = [&](std::size_t type, MPI_Offset at, MPI_Offset count) {
      return add_items(in.types[type], base + at, count);
    };
    const auto all = [&](int count, auto one) {
      for (int i = 0; i < count; ++i)
        if (const int failed = one(static_cast<std::size_t>(i))) return failed;
      return code::kOk;
    };
    const std::size_t blocks =
        in.ints.empty() ? 0 : static_cast<std::size_t>(std::max(in.ints[0], 0));
    switch (combiner) {
      case MPI_COMBINER_DUP:
      case MPI_COMBINER_RESIZED:
        return add(in.types[0], base);
      case MPI_COMBINER_CONTIGUOUS:
        return block(0, 0, in.ints[0]);
      case MPI_COMBINER_VECTOR: {
        const MPI_Aint extent = extent_of(in.types[0]);
        return all(in.ints[0], [&](std::size_t i) {
          return block(0, static_cast<MPI_Offset>(i) * in.ints[2] * extent, in.ints[1]);
        });
      }
      case MPI_COMBINER_HVECTOR:
        return all(in.ints[0], [&](std::size_t i) {
          return block(0, static_cast<MPI_Offset>(i) * in.addresses[0], in.ints[1]);
        });
      case MPI_COMBINER_INDEXED: {
        const MPI_Aint extent = extent_of(in.types[0]);
        return all(in.ints[0], [&](std::size_t i) {
          return block(0, in.ints[1 + blocks + i] * extent, in.ints[1 + i]);
        });
      }
      case MPI_COMBINER_HINDEXED:
        return all(in.ints[0],
                   [&](std::size_t i) { return block(0, in.addresses[i], in.ints[1 + i]); });
      case MPI_COMBINER_INDEXED_BLOCK: {
        const MPI_Aint extent = extent_of(in.types[0]);
        return all(in.ints[0],
                   [&](std::size_t i) { return block(0, in.ints[2 + i] * extent, in.ints[1]); });
      }
      case MPI_COMBINER_HINDEXED_BLOCK:
        return all(in.ints[0],
                   [&](std::size_t i) { return block(0, in.addresses[i], in.ints[1]); });
      case MPI_COMBINER_STRUCT:
        return all(in.ints[0],
                   [&](std::size_t i) { return block(i, in.addresses[i], in.ints[1 + i]); });
      case MPI_COMBINER_SUBARRAY:
        return add_subarray(in, base);
      case MPI_COMBINER_DARRAY:
        return add_darray(in, base);
      default:
        return code::kNotSupported;
    }
  }

  std::vector<FileRun>* runs_;
};

// Appends the hyperslabs of the elements [first, first + count) of an array, in row-major order.
void add_hyperslabs(const std::vector<std::uint64_t>& lengths, std::uint64_t first,
                    std::uint64_t count, int variable, std::vector<Access>* out) {
  const std::size_t rank = lengths.size();
  std::vector<std::uint64_t> below(rank, 1);  // elements of one index of each dimension
  for (std::size_t i = rank; i-- > 1;) below[i - 1] = below[i] * lengths[i];
  while (count > 0) {
    // The slowest dimension of which whole indexes can be taken.
    std::size_t d = 0;
    while (d + 1 < rank && (first % below[d] != 0 || count < below[d])) ++d;
    Access access;
    access.variable = variable;
    std::uint64_t rest = first;
    for (std::size_t i = 0; i < rank; ++i) {
      access.slab.start.push_back(rest / below[i]);
      rest %= below[i];
      access.slab.count.push_back(i < d ? 1 : lengths[i]);
    }
    access.elements = 1;
    if (rank > 0) {
      const std::uint64_t room = lengths[d] - access.slab.start[d];
      access.slab.count[d] = std::min(room, count / below[d]);
      for (std::size_t i = d + 1; i < rank; ++i) access.slab.start[i] = 0;
      access.elements = access.slab.count[d] * below[d];
    }
    first += access.elements;
    count -= access.elements;
    out->push_back(std::move(access));
  }
}

}  // namespace

int runs_of(MPI_Datatype type, std::vector<FileRun>* runs) { return Flattener(runs).add(type, 0); }

int accesses_at(const OpenFile& file, int variable, const std::vector<FileRun>& runs,
                std::vector<Access>* accesses, MPI_Offset* records) {
  const Metadata& all = file.header.all();
  const Type type = all.variable(static_cast<VarId>(variable)).type;
  const std::uint64_t size = type_size(type);
  const std::uint64_t record_begin = file.layout.record_begin,
                      record_size = file.layout.record_size;
  // Variables by their place, those of records after the others; canonical order is that of their
  // IDs.
  struct Place {
    std::uint64_t begin, bytes;
    VarId variable;
    bool is_record;
  };
  std::vector<Place> places;
  for (VarId v = 0; v < all.variable_count(); ++v)
    places.push_back({all.begin(v), all.array_bytes(v).value_or(0), v, all.is_record_variable(v)});
  std::ranges::sort(places, {}, &Place::begin);
  for (const FileRun& run : runs) {
    auto at = static_cast<std::uint64_t>(
        static_cast<std::int64_t>(all.begin(static_cast<VarId>(variable))) + run.offset);
    if (run.offset < 0 && static_cast<std::int64_t>(at) < 0) return code::kEdge;
    auto left = static_cast<std::uint64_t>(run.length);
    while (left > 0) {
      const bool in_records = record_size > 0 && at >= record_begin;
      const std::uint64_t record = in_records ? (at - record_begin) / record_size : 0;
      const std::uint64_t place = in_records ? at - record * record_size : at;
      auto next = std::ranges::upper_bound(places, place, {}, &Place::begin);
      if (next == places.begin()) return code::kEdge;
      const Place& found = *std::prev(next);
      const std::uint64_t within = place - found.begin;
      if (found.is_record != in_records || within >= found.bytes || within % size != 0)
        return code::kEdge;
      const Variable var = all.variable(found.variable);
      if (var.type != type) return code::kTypeMismatch;
      const std::uint64_t bytes = std::min(left, found.bytes - within);
      if (bytes % size != 0) return code::kEdge;
      std::vector<std::uint64_t> lengths;
      for (const DimId dim : var.dimensions)
        if (!all.dimension(dim).is_record()) lengths.push_back(all.dimension(dim).length);
      const std::size_t before = accesses->size();
      add_hyperslabs(lengths, within / size, bytes / size, static_cast<int>(found.variable),
                     accesses);
      for (std::size_t i = before; found.is_record && i < accesses->size(); ++i) {
        Hyperslab& slab = (*accesses)[i].slab;
        slab.start.insert(slab.start.begin(), record);
        slab.count.insert(slab.count.begin(), 1);
        *records = std::max(*records, static_cast<MPI_Offset>(record) + 1);
      }
      at += bytes;
      left -= bytes;
    }
  }
  return code::kOk;
}

}  // namespace nmb::pnetcdf
