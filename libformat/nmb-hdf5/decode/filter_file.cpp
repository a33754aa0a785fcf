// The data set has one element of one byte. Its chunk has two filters: one of this program, which
// takes what the other one returns, whatever its length is, and then the filter itself. HDF5 gives
// data sets that it makes other parameters of its filters, so the data set is made with a stand-in
// first, whose number is replaced in the bytes of the file.
#include "decode/filter_file.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

#include "hdf5_error.h"
#include "wire/endian.h"
#include "wire/joined_text.h"

namespace nmb::hdf5 {

namespace {

constexpr H5Z_filter_t kTaker = H5Z_FILTER_MAX, kStandIn = H5Z_FILTER_MAX - 1;
constexpr const char* kStandInName = "nmb stand-in";

// The receiver of the bytes that the filter kTaker gets, and their limit.
struct Taking {
  FilterFile::Take take = nullptr;
  std::uint64_t most = 0;
  Status status;
  bool was_called = false;
};
Taking taking;

// Passes the bytes on. HDF5 then gets at least the byte that the element needs.
std::size_t take_bytes(unsigned flags, std::size_t, const unsigned[], std::size_t bytes,
                       std::size_t*, void** buffer) {
  if ((flags & H5Z_FLAG_REVERSE) == 0) return bytes;
  taking.was_called = true;
  if (bytes > taking.most)
    taking.status = damaged("found ", bytes, " decoded bytes, expected at most ", taking.most);
  else
    taking.status = taking.take({static_cast<const std::byte*>(*buffer), bytes});
  return bytes;
}

std::size_t keep_bytes(unsigned, std::size_t, const unsigned[], std::size_t bytes, std::size_t*,
                       void**) {
  return bytes;
}

Status register_own_filters() {
  static bool is_done = false;
  if (is_done) return {};
  const H5Z_class2_t taker = {H5Z_CLASS_T_VERS, kTaker,  1,       1,
                              "nmb taker",      nullptr, nullptr, take_bytes};
  const H5Z_class2_t stand_in = {H5Z_CLASS_T_VERS, kStandIn, 1,       1,
                                 kStandInName,     nullptr,  nullptr, keep_bytes};
  NMB_TRY(check_hdf5(H5Zregister(&taker), "a filter"));
  NMB_TRY(check_hdf5(H5Zregister(&stand_in), "a filter"));
  is_done = true;
  return {};
}

// Returns properties for a file that exists in memory alone.
Result<Handle> memory_access() {
  constexpr std::size_t kStep = 1 << 20;
  NMB_ASSIGN(Handle access, check_handle(file_access(), "properties"));
  NMB_TRY(check_hdf5(H5Pset_fapl_core(access.get(), kStep, false), "properties"));
  // The oldest form of an object header has no checksum.
  NMB_TRY(check_hdf5(H5Pset_libver_bounds(access.get(), H5F_LIBVER_EARLIEST, H5F_LIBVER_LATEST),
                     "properties"));
  return access;
}

// Returns the bytes of a file whose data set has the stand-in.
Result<std::vector<std::byte>> file_with_stand_in(const std::vector<std::uint32_t>& parameters) {
  NMB_ASSIGN(const Handle access, memory_access());
  NMB_ASSIGN(const Handle file,
             check_handle(H5Fcreate("filter", H5F_ACC_TRUNC, H5P_DEFAULT, access.get()), "a file"));
  NMB_ASSIGN(const Handle dcpl, new_object_properties(H5P_DATASET_CREATE, "properties"));
  // HDF5 refuses chunks whose stored form has very many more bytes than their values.
  constexpr hsize_t kOne = 1, kNoLimit = H5S_UNLIMITED, kChunk = 1 << 24;
  NMB_TRY(check_hdf5(H5Pset_chunk(dcpl.get(), 1, &kChunk), "a chunk"));
  NMB_TRY(check_hdf5(H5Pset_fill_time(dcpl.get(), H5D_FILL_TIME_NEVER), "fill time"));
  NMB_TRY(check_hdf5(H5Pset_alloc_time(dcpl.get(), H5D_ALLOC_TIME_INCR), "allocation time"));
  NMB_TRY(check_hdf5(H5Pset_filter(dcpl.get(), kTaker, 0, 0, nullptr), "a filter"));
  NMB_TRY(check_hdf5(H5Pset_filter(dcpl.get(), kStandIn, 0, parameters.size(), parameters.data()),
                     "a filter"));
  NMB_ASSIGN(const Handle space, check_handle(H5Screate_simple(1, &kOne, &kNoLimit), "a space"));
  const hid_t made =
      H5Dcreate2(file.get(), "d", H5T_STD_U8LE, space.get(), H5P_DEFAULT, dcpl.get(), H5P_DEFAULT);
  if (made < 0) return hdf5_failure("the parameters of a filter", Code::kDamaged);
  { const Handle data_set(made); }
  NMB_TRY(check_hdf5(H5Fflush(file.get(), H5F_SCOPE_LOCAL), "a file"));
  const ssize_t size = H5Fget_file_image(file.get(), nullptr, 0);
  if (size <= 0) return hdf5_failure("a file");
  std::vector<std::byte> bytes(static_cast<std::size_t>(size));
  if (H5Fget_file_image(file.get(), bytes.data(), bytes.size()) != size)
    return hdf5_failure("a file");
  return bytes;
}

// Replaces the number of the stand-in, which lies 8 bytes before its name.
Status replace_stand_in(std::uint32_t filter, std::vector<std::byte>* bytes) {
  constexpr std::ptrdiff_t kAhead = 8;
  const auto name = std::as_bytes(std::span(std::string_view(kStandInName)));
  const auto at = std::search(bytes->begin(), bytes->end(), name.begin(), name.end());
  if (at == bytes->end() || at - bytes->begin() < kAhead ||
      load_le<std::uint16_t>(&*(at - kAhead)) != kStandIn)
    return unsupported("the HDF5 library stores filters in an unknown form");
  store_le(&*(at - kAhead), static_cast<std::uint16_t>(filter));
  return {};
}

}  // namespace

Result<std::unique_ptr<FilterFile>> FilterFile::make(const FilterRequest& request) {
  NMB_TRY(register_own_filters());
  NMB_ASSIGN(std::vector<std::byte> bytes, file_with_stand_in(request.parameters));
  NMB_TRY(replace_stand_in(request.filter, &bytes));
  NMB_ASSIGN(const Handle access, memory_access());
  NMB_TRY(check_hdf5(H5Pset_file_image(access.get(), bytes.data(), bytes.size()), "a file"));
  std::unique_ptr<FilterFile> made(new FilterFile(request));
  NMB_ASSIGN(made->file_, check_handle(H5Fopen("filter", H5F_ACC_RDWR, access.get()), "a file"));
  // The chunk must not stay in HDF5's cache, because it changes with each request.
  NMB_ASSIGN(const Handle dapl, check_handle(H5Pcreate(H5P_DATASET_ACCESS), "properties"));
  NMB_TRY(check_hdf5(H5Pset_chunk_cache(dapl.get(), 0, 0, 0), "properties"));
  NMB_ASSIGN(made->data_set_,
             check_handle(H5Dopen2(made->file_.get(), "d", dapl.get()), "a data set"));
  return made;
}

Status FilterFile::undo(std::span<const std::byte> bytes, std::uint64_t most, Take take) {
  constexpr hsize_t kFirst = 0;
  if (bytes.size() > std::numeric_limits<std::uint32_t>::max())
    return damaged("found a chunk of ", bytes.size(), " bytes, expected less than 2^32");
  NMB_TRY(check_read(
      H5Dwrite_chunk(data_set_.get(), H5P_DEFAULT, 0, &kFirst, bytes.size(), bytes.data()),
      "a chunk"));
  taking = {take, most, {}, false};
  std::byte element{};
  const herr_t read =
      H5Dread(data_set_.get(), H5T_STD_U8LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &element);
  if (taking.was_called) {
    H5Eclear2(H5E_DEFAULT);
    return taking.status;
  }
  return read < 0 ? hdf5_failure(joined_text("filter ", filter_), Code::kDamaged)
                  : damaged("filter ", filter_, " returned nothing");
}

bool FilterFile::is_full() const {
  constexpr hsize_t kMost = 64 << 20;
  hsize_t size = 0;
  return H5Fget_filesize(file_.get(), &size) < 0 || size > kMost;
}

}  // namespace nmb::hdf5
