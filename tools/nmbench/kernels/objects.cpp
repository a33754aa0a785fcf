// Exchange of descriptions (see objects.h): what a program does that uses a library whose
// definitions are collective ("Parallel Data Object Creation", section 2.2: the application-level
// baseline).
#include "objects.h"

#include <cstring>
#include <numeric>

namespace nmb::bench {

namespace {

template <class Items>
Items gather(const Items& mine, int size, std::vector<int>* starts) {
  constexpr int kItem = static_cast<int>(sizeof mine[0]);
  const int count = static_cast<int>(mine.size());
  std::vector<int> counts(static_cast<std::size_t>(size)), places(counts.size());
  MPI_Allgather(&count, 1, MPI_INT, counts.data(), 1, MPI_INT, MPI_COMM_WORLD);
  std::exclusive_scan(counts.begin(), counts.end(), places.begin(), 0);
  Items all;
  all.resize(static_cast<std::size_t>(places.back() + counts.back()));
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(kItem, MPI_BYTE, &type);
  MPI_Type_commit(&type);
  MPI_Allgatherv(mine.data(), count, type, all.data(), counts.data(), places.data(), type,
                 MPI_COMM_WORLD);
  MPI_Type_free(&type);
  *starts = std::move(places);
  return all;
}

// Moves the names of each rank's items to where its texts are now.
template <class Items>
void place_names(Items* items, const std::vector<int>& starts, const std::vector<int>& texts) {
  for (std::size_t rank = 0; rank < starts.size(); ++rank) {
    const std::size_t end =
        rank + 1 < starts.size() ? static_cast<std::size_t>(starts[rank + 1]) : items->size();
    for (auto i = static_cast<std::size_t>(starts[rank]); i < end; ++i)
      (*items)[i].name.place += static_cast<std::uint32_t>(texts[rank]);
  }
}

}  // namespace

Gathered gather_descriptions(const Description& mine, int rank, int size) {
  Gathered out;
  std::vector<int> texts, dimensions, variables, blocks;
  out.all.heap = gather(mine.heap, size, &texts);
  out.all.dimensions = gather(mine.dimensions, size, &dimensions);
  out.all.variables = gather(mine.variables, size, &variables);
  out.all.blocks = gather(mine.blocks, size, &blocks);
  place_names(&out.all.dimensions, dimensions, texts);
  place_names(&out.all.variables, variables, texts);
  place_names(&out.all.blocks, blocks, texts);
  out.first_block = static_cast<std::size_t>(blocks[static_cast<std::size_t>(rank)]);
  out.first_variable = static_cast<std::size_t>(variables[static_cast<std::size_t>(rank)]);
  return out;
}

MetadataSum sum_of(const Description& objects, bool flat) {
  MetadataSum sum;
  std::size_t variable = 0, dimension = 0;
  std::vector<std::uint64_t> lengths;
  for (const Description::Block& block : objects.blocks) {
    for (std::uint32_t i = 0; i < block.variables; ++i) {
      const Description::Variable& v = objects.variables[variable++];
      lengths.clear();
      for (std::uint8_t axis = 0; axis < v.rank; ++axis)
        lengths.push_back(objects.dimensions[dimension++].length);
      sum.add(flat ? std::string_view() : objects.text(block.name), objects.text(v.name), v.type,
              lengths);
    }
  }
  return sum;
}

std::vector<std::byte> values_of_name(const std::string& name, Type type, std::uint64_t count) {
  std::uint64_t seed = 0;
  for (const char c : name) seed = seed * 31 + static_cast<unsigned char>(c);
  std::vector<std::byte> bytes(count * type_size(type));
  const auto fill = [&]<class T>(T) {
    for (std::uint64_t i = 0; i < count; ++i) {
      const T value = static_cast<T>((seed + i) % 1000);
      std::memcpy(bytes.data() + i * sizeof value, &value, sizeof value);
    }
  };
  switch (type) {
    case Type::kFloat:
      fill(float{});
      break;
    case Type::kDouble:
      fill(double{});
      break;
    case Type::kInt:
      fill(std::int32_t{});
      break;
    case Type::kInt64:
      fill(std::int64_t{});
      break;
    default:
      throw std::runtime_error("samples have no values of this type");
  }
  return bytes;
}

}  // namespace nmb::bench
