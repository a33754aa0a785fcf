// Defaults of back ends (see backend.h).
#include "backend.h"

namespace nmb::bench {

namespace {

[[noreturn]] void no_arrays() { throw Refused("has no arrays that are read and written in parts"); }

std::uint64_t mixed(std::uint64_t hash, std::uint64_t value) {
  hash = (hash ^ value) * 0x9E3779B97F4A7C15;
  return hash ^ (hash >> 29);
}

std::uint64_t mixed(std::uint64_t hash, std::string_view text) {
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3;
  return mixed(hash, text.size());
}

}  // namespace

MPI_Info info_of(const FileOptions& options) {
  MPI_Info info = MPI_INFO_NULL;
  MPI_Info_create(&info);
  for (const auto& [key, value] : options.hints) MPI_Info_set(info, key.c_str(), value.c_str());
  return info;
}

void MetadataSum::add(std::string_view block, std::string_view variable, Type type,
                      const std::vector<std::uint64_t>& lengths) {
  std::uint64_t hash = mixed(mixed(0xCBF29CE484222325, block), variable);
  hash = mixed(hash, static_cast<std::uint64_t>(type));
  for (const std::uint64_t length : lengths) hash = mixed(hash, length);
  ++variables;
  dimensions += lengths.size();
  digest += hash;
}

void MetadataSum::add(const MetadataSum& other) {
  variables += other.variables;
  dimensions += other.dimensions;
  digest += other.digest;
}

void Backend::put_sample(const Description&, std::size_t, std::size_t,
                         const std::vector<std::byte>&) {
  throw Refused("has no values of samples");
}
void Backend::read_sample(const std::string& block, const std::vector<std::string>& variables,
                          std::vector<std::vector<std::byte>>* out) {
  out->resize(variables.size());
  for (std::size_t v = 0; v < variables.size(); ++v) read_variable(block, variables[v], &(*out)[v]);
}
int Backend::define_array(const ArrayShape&) { no_arrays(); }
int Backend::find_array(const ArrayShape&) { no_arrays(); }
void Backend::extend(const std::vector<int>&, std::uint64_t) { no_arrays(); }
void Backend::run_by_threads(Run&) { throw Refused("has no ranks that are threads"); }
std::vector<int> Backend::find_same(const std::vector<ArrayShape>& shapes) {
  std::vector<int> arrays;
  for (const ArrayShape& shape : shapes) arrays.push_back(find_array(shape));
  return arrays;
}
void Backend::put(int, const Slab&, const void*) { no_arrays(); }
void Backend::get(int, const Slab&, void*) { no_arrays(); }
void Backend::put_own(const std::vector<Put>& puts) {
  for (const Put& one : puts) put(one.array, one.slab, one.values);
}

// The members are one more dimension, the fastest.
static Slab with_members(const Slab& slab, std::uint64_t first, std::uint64_t count) {
  Slab all = slab;
  if (!all.stride.empty()) all.stride.push_back(1);
  if (!all.block.empty()) all.block.push_back(1);
  all.start.push_back(first);
  all.count.push_back(count);
  return all;
}

void Backend::put_member(int array, const Slab& slab, std::size_t member, const void* values) {
  put(array, with_members(slab, member, 1), values);
}
void Backend::put_particles(int array, const Slab& slab, const std::uint32_t* particles) {
  put(array, with_members(slab, 0, kMembers), particles);
}
void Backend::get_particles(int array, const Slab& slab, std::uint32_t* particles) {
  get(array, with_members(slab, 0, kMembers), particles);
}

void Backend::put_from_particles(int array, const Slab& slab, std::size_t member,
                                 const std::uint32_t* particles) {
  std::vector<std::uint32_t> values(slab.elements());
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = particles[i * kMembers + member];
  put(array, slab, values.data());
}

void Backend::put_many(int array, const std::vector<Slab>& slabs, const std::byte* values,
                       std::size_t size) {
  for (const Slab& slab : slabs) {
    put(array, slab, values);
    values += slab.elements() * size;
  }
}
void Backend::get_many(int array, const std::vector<Slab>& slabs, std::byte* values,
                       std::size_t size) {
  for (const Slab& slab : slabs) {
    get(array, slab, values);
    values += slab.elements() * size;
  }
}

}  // namespace nmb::bench
