// Conversion of values for every pair of an external and a memory type, against exact arithmetic in
// long double (64 bits of mantissa: every value of every type) and against netCDF-C.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "model/values.h"

#ifdef NMB_TEST_NETCDF
#include <netcdf.h>
#endif

namespace nmb {
namespace {

static_assert(std::numeric_limits<long double>::digits >= 64);

const std::vector<long double> kEdges = [] {
  std::vector<long double> edges = {0.0L, -0.0L, 0.5L, -0.5L, 0.999L, -0.999L, 1.0L, -1.0L, 100.0L};
  for (int bits : {7, 8, 15, 16, 24, 31, 32, 53, 63, 64})
    for (long double sign : {1.0L, -1.0L})
      for (long double step : {-1.0L, -0.5L, 0.0L, 0.5L, 1.0L})
        edges.push_back(sign * (std::ldexp(1.0L, bits) + step));
  for (long double sign : {1.0L, -1.0L})
    for (long double value :
         {static_cast<long double>(std::numeric_limits<float>::max()), std::ldexp(1.0L, 128),
          1e300L, 1e-300L, 1e-40L, std::numeric_limits<long double>::infinity()})
      edges.push_back(sign * value);
  edges.push_back(std::numeric_limits<long double>::quiet_NaN());
  return edges;
}();

template <class T>
bool holds(long double value) {
  if (!std::isfinite(value)) return std::is_floating_point_v<T>;
  if (value < static_cast<long double>(std::numeric_limits<T>::lowest()) ||
      value > static_cast<long double>(std::numeric_limits<T>::max()))
    return false;
  return static_cast<long double>(static_cast<T>(value)) == value;
}

template <class T>
constexpr Type external_type() {
  switch (memory_type_of<T>()) {
    case MemoryType::kInt8:
      return Type::kByte;
    case MemoryType::kUInt8:
      return Type::kUByte;
    case MemoryType::kInt16:
      return Type::kShort;
    case MemoryType::kUInt16:
      return Type::kUShort;
    case MemoryType::kInt32:
      return Type::kInt;
    case MemoryType::kUInt32:
      return Type::kUInt;
    case MemoryType::kInt64:
      return Type::kInt64;
    case MemoryType::kUInt64:
      return Type::kUInt64;
    case MemoryType::kFloat:
      return Type::kFloat;
    case MemoryType::kDouble:
      return Type::kDouble;
    case MemoryType::kText:
      break;
  }
  return Type::kChar;
}

template <class T>
std::vector<std::byte> big_endian(T value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  if constexpr (std::endian::native == std::endian::little)
    std::reverse(bytes.begin(), bytes.end());
  return bytes;
}

template <class From, class To>
bool expect_in_range(long double value) {
  if (std::isnan(value)) return std::is_floating_point_v<To>;
  if (std::is_same_v<From, To>) return true;
  if (std::isinf(value)) return std::is_floating_point_v<To> && sizeof(To) >= sizeof(From);
  return value >= static_cast<long double>(std::numeric_limits<To>::lowest()) &&
         value <= static_cast<long double>(std::numeric_limits<To>::max());
}

template <class T>
void expect_same(T found, T expected, const std::string& where) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(expected)) {
      EXPECT_TRUE(std::isnan(found)) << where;
      return;
    }
    EXPECT_EQ(std::signbit(found), std::signbit(expected)) << where;
  }
  EXPECT_EQ(found, expected) << where;
}

template <class From, class To>
To expected_value(long double value, bool fits) {
  if (fits) return static_cast<To>(static_cast<From>(value));
  if constexpr (std::is_floating_point_v<To>)
    return value > 0 ? std::numeric_limits<To>::infinity() : -std::numeric_limits<To>::infinity();
  else if constexpr (std::is_floating_point_v<From>)
    return value > 0 ? std::numeric_limits<To>::max() : std::numeric_limits<To>::min();
  else
    return static_cast<To>(static_cast<From>(value));
}

template <class From, class To>
void check_pair() {
  for (long double edge : kEdges) {
    if (!holds<From>(edge)) continue;
    const From value = static_cast<From>(edge);
    const bool fits = expect_in_range<From, To>(edge);
    const To expected = expected_value<From, To>(edge, fits);
    const std::string where = std::string(type_name(external_type<From>())) + " to " +
                              std::string(type_name(external_type<To>())) + ", " +
                              std::to_string(edge);
    // Behind one value in range, so that the count is of values and the second place is used; at an
    // odd address, since arrays need no alignment.
    std::vector<std::byte> external(1);
    for (const From v : {From{1}, value}) {
      const auto bytes = big_endian(v);
      external.insert(external.end(), bytes.begin(), bytes.end());
    }
    std::vector<std::byte> memory(1 + 2 * sizeof(To));
    EXPECT_EQ(convert_from_external(external_type<From>(), external.data() + 1, 2,
                                    memory_type_of<To>(), memory.data() + 1),
              fits ? 0u : 1u)
        << where;
    To found;
    std::memcpy(&found, memory.data() + 1 + sizeof(To), sizeof(To));
    expect_same(found, expected, where);

    std::vector<std::byte> source(1 + 2 * sizeof(From)), written(1 + 2 * sizeof(To));
    const From pair[] = {From{1}, value};
    std::memcpy(source.data() + 1, pair, sizeof pair);
    EXPECT_EQ(convert_to_external(memory_type_of<From>(), source.data() + 1, 2, external_type<To>(),
                                  written.data() + 1),
              fits ? 0u : 1u)
        << where;
    const std::vector<std::byte> tail(written.begin() + 1 + sizeof(To), written.end());
    if (!(std::is_floating_point_v<To> && std::isnan(edge))) {
      EXPECT_EQ(tail, big_endian(expected)) << where;
    }
  }
}

template <class From>
void check_all_targets() {
  check_pair<From, std::int8_t>();
  check_pair<From, std::uint8_t>();
  check_pair<From, std::int16_t>();
  check_pair<From, std::uint16_t>();
  check_pair<From, std::int32_t>();
  check_pair<From, std::uint32_t>();
  check_pair<From, std::int64_t>();
  check_pair<From, std::uint64_t>();
  check_pair<From, float>();
  check_pair<From, double>();
}

TEST(Conversion, EdgesOfEveryPairOfTypes) {
  check_all_targets<std::int8_t>();
  check_all_targets<std::uint8_t>();
  check_all_targets<std::int16_t>();
  check_all_targets<std::uint16_t>();
  check_all_targets<std::int32_t>();
  check_all_targets<std::uint32_t>();
  check_all_targets<std::int64_t>();
  check_all_targets<std::uint64_t>();
  check_all_targets<float>();
  check_all_targets<double>();
}

TEST(Conversion, BytesHaveNoSignInOldKinds) {
  const std::byte external[] = {std::byte{0xfd}, std::byte{3}};
  for (Kind kind : {Kind::kCdf1, Kind::kCdf2, Kind::kCdf5}) {
    const std::uint64_t bad = kind == Kind::kCdf5 ? 1 : 0;
    std::uint8_t memory[2] = {};
    EXPECT_EQ(convert_from_external(Type::kByte, external, 2, MemoryType::kUInt8, memory, kind),
              bad);
    EXPECT_EQ(memory[0], 253);
    std::byte back[2] = {};
    EXPECT_EQ(convert_to_external(MemoryType::kUInt8, memory, 2, Type::kByte, back, kind), bad);
    EXPECT_EQ(back[0], external[0]);
    // The rule is of 8-bit arrays alone.
    std::uint16_t wide[2] = {};
    EXPECT_EQ(convert_from_external(Type::kByte, external, 2, MemoryType::kUInt16, wide, kind), 1u);
  }
}

TEST(Conversion, TextIsCopied) {
  const char text[] = {'a', '\0', '\xff'};
  std::byte external[3];
  EXPECT_EQ(convert_to_external(MemoryType::kText, text, 3, Type::kChar, external), 0u);
  EXPECT_EQ(std::memcmp(text, external, 3), 0);
  char back[3];
  EXPECT_EQ(convert_from_external(Type::kChar, external, 3, MemoryType::kText, back), 0u);
  EXPECT_EQ(std::memcmp(text, back, 3), 0);
}

TEST(Conversion, NothingToConvert) {
  EXPECT_EQ(convert_from_external(Type::kInt, nullptr, 0, MemoryType::kDouble, nullptr), 0u);
  EXPECT_EQ(convert_to_external(MemoryType::kInt8, nullptr, 0, Type::kByte, nullptr), 0u);
}

#ifdef NMB_TEST_NETCDF

int netcdf_put(int nc, int v, const std::int8_t* p) { return nc_put_var_schar(nc, v, p); }
int netcdf_put(int nc, int v, const std::uint8_t* p) { return nc_put_var_uchar(nc, v, p); }
int netcdf_put(int nc, int v, const std::int16_t* p) { return nc_put_var_short(nc, v, p); }
int netcdf_put(int nc, int v, const std::uint16_t* p) { return nc_put_var_ushort(nc, v, p); }
int netcdf_put(int nc, int v, const std::int32_t* p) { return nc_put_var_int(nc, v, p); }
int netcdf_put(int nc, int v, const std::uint32_t* p) { return nc_put_var_uint(nc, v, p); }
int netcdf_put(int nc, int v, const long long* p) { return nc_put_var_longlong(nc, v, p); }
int netcdf_put(int nc, int v, const unsigned long long* p) {
  return nc_put_var_ulonglong(nc, v, p);
}
int netcdf_put(int nc, int v, const float* p) { return nc_put_var_float(nc, v, p); }
int netcdf_put(int nc, int v, const double* p) { return nc_put_var_double(nc, v, p); }
int netcdf_get(int nc, int v, std::int8_t* p) { return nc_get_var_schar(nc, v, p); }
int netcdf_get(int nc, int v, std::uint8_t* p) { return nc_get_var_uchar(nc, v, p); }
int netcdf_get(int nc, int v, std::int16_t* p) { return nc_get_var_short(nc, v, p); }
int netcdf_get(int nc, int v, std::uint16_t* p) { return nc_get_var_ushort(nc, v, p); }
int netcdf_get(int nc, int v, std::int32_t* p) { return nc_get_var_int(nc, v, p); }
int netcdf_get(int nc, int v, std::uint32_t* p) { return nc_get_var_uint(nc, v, p); }
int netcdf_get(int nc, int v, long long* p) { return nc_get_var_longlong(nc, v, p); }
int netcdf_get(int nc, int v, unsigned long long* p) { return nc_get_var_ulonglong(nc, v, p); }
int netcdf_get(int nc, int v, float* p) { return nc_get_var_float(nc, v, p); }
int netcdf_get(int nc, int v, double* p) { return nc_get_var_double(nc, v, p); }

// A scalar of every type of `kind`, in memory; variable ids count from 0 as types from kByte.
class NetcdfScalars {
 public:
  explicit NetcdfScalars(Kind kind) : types_(kind == Kind::kCdf5 ? 11 : 6) {
    const int mode = kind == Kind::kCdf1   ? 0
                     : kind == Kind::kCdf2 ? NC_64BIT_OFFSET
                                           : NC_64BIT_DATA;
    EXPECT_EQ(nc_create("scalars.nc", NC_DISKLESS | NC_CLOBBER | mode, &id_), NC_NOERR);
    for (int type = 1; type <= types_; ++type) {
      int variable = 0;
      const std::string name = "v" + std::to_string(type);
      EXPECT_EQ(nc_def_var(id_, name.c_str(), type, 0, nullptr, &variable), NC_NOERR);
    }
    EXPECT_EQ(nc_enddef(id_), NC_NOERR);
  }
  ~NetcdfScalars() { nc_abort(id_); }
  int id() const { return id_; }
  bool has(Type type) const { return static_cast<int>(type) <= types_; }
  static int variable(Type type) { return static_cast<int>(type) - 1; }

 private:
  int types_;
  int id_ = 0;
};

// Cases in which NMB reports more than netCDF-C: NaN to an integer, and 2^63 and 2^64 to the
// integers that end just below (netCDF-C compares with the limit rounded to the floating type).
template <class From, class To>
bool departs(long double edge) {
  if (std::is_same_v<From, float> && std::is_same_v<To, double>) return std::isinf(edge);
  if (!std::is_floating_point_v<From> || !std::is_integral_v<To>) return false;
  return std::isnan(edge) || edge == std::ldexp(1.0L, std::numeric_limits<To>::digits);
}

template <class External, class Memory>
void compare_with_netcdf(const NetcdfScalars& file, Kind kind, Type type) {
  if (!file.has(type)) return;
  const int variable = NetcdfScalars::variable(type);
  for (long double edge : kEdges) {
    const std::string where =
        "kind " + std::to_string(static_cast<int>(kind)) + ", " + std::string(type_name(type)) +
        " and " + std::string(type_name(external_type<Memory>())) + ", " + std::to_string(edge);
    if (holds<Memory>(edge) && !departs<Memory, External>(edge)) {
      const Memory value = static_cast<Memory>(edge);
      std::vector<std::byte> ours(sizeof(External));
      const bool bad =
          convert_to_external(memory_type_of<Memory>(), &value, 1, type, ours.data(), kind) > 0;
      EXPECT_EQ(netcdf_put(file.id(), variable, &value), bad ? NC_ERANGE : NC_NOERR)
          << "put " << where;
      External theirs{};
      EXPECT_EQ(netcdf_get(file.id(), variable, &theirs), NC_NOERR);
      if (!bad && !std::isnan(edge)) {
        EXPECT_EQ(ours, big_endian(theirs)) << "put " << where;
      }
    }
    if (holds<External>(edge) && !departs<External, Memory>(edge)) {
      const External value = static_cast<External>(edge);
      ASSERT_EQ(netcdf_put(file.id(), variable, &value), NC_NOERR);
      Memory ours{}, theirs{};
      const bool bad = convert_from_external(type, big_endian(value).data(), 1,
                                             memory_type_of<Memory>(), &ours, kind) > 0;
      EXPECT_EQ(netcdf_get(file.id(), variable, &theirs), bad ? NC_ERANGE : NC_NOERR)
          << "get " << where;
      if (!bad) expect_same(ours, theirs, "get " + where);
    }
  }
}

template <class Memory>
void compare_all_with_netcdf(Kind kind) {
  const NetcdfScalars file(kind);
  compare_with_netcdf<std::int8_t, Memory>(file, kind, Type::kByte);
  compare_with_netcdf<std::int16_t, Memory>(file, kind, Type::kShort);
  compare_with_netcdf<std::int32_t, Memory>(file, kind, Type::kInt);
  compare_with_netcdf<float, Memory>(file, kind, Type::kFloat);
  compare_with_netcdf<double, Memory>(file, kind, Type::kDouble);
  compare_with_netcdf<std::uint8_t, Memory>(file, kind, Type::kUByte);
  compare_with_netcdf<std::uint16_t, Memory>(file, kind, Type::kUShort);
  compare_with_netcdf<std::uint32_t, Memory>(file, kind, Type::kUInt);
  compare_with_netcdf<long long, Memory>(file, kind, Type::kInt64);
  compare_with_netcdf<unsigned long long, Memory>(file, kind, Type::kUInt64);
}

TEST(Conversion, AgreesWithNetcdf) {
  for (Kind kind : {Kind::kCdf1, Kind::kCdf2, Kind::kCdf5}) {
    compare_all_with_netcdf<std::int8_t>(kind);
    compare_all_with_netcdf<std::uint8_t>(kind);
    compare_all_with_netcdf<std::int16_t>(kind);
    compare_all_with_netcdf<std::uint16_t>(kind);
    compare_all_with_netcdf<std::int32_t>(kind);
    compare_all_with_netcdf<std::uint32_t>(kind);
    compare_all_with_netcdf<long long>(kind);
    compare_all_with_netcdf<unsigned long long>(kind);
    compare_all_with_netcdf<float>(kind);
    compare_all_with_netcdf<double>(kind);
  }
}

#else
TEST(Conversion, AgreesWithNetcdf) { GTEST_SKIP() << "built without netCDF-C"; }
#endif

}  // namespace
}  // namespace nmb
