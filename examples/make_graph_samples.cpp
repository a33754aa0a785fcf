// make_graph_samples writes CDF-5 files of graph samples, as a neutrino experiment does: each of
// its processes writes a file of its own. A sample has 16 variables, whose names contain the
// name of the sample, and each variable has its own dimensions. The bytes of a sample depend only
// on the seed and on the number of the sample. This program stands for a user's program, and does
// not use libnmb.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

namespace {

constexpr std::array<std::string_view, 3> kPlanes = {"u", "v", "y"};  // wire planes of the detector
constexpr std::uint64_t kFeaturesOfHit = 9;
constexpr std::uint64_t kSamplesOfRun = 120;
constexpr std::uint64_t kEventStep = 100;  // event numbers are unique within a run
// In one sample of every kEmptyEvery samples, the first plane has no edges in space. The variable
// of these edges then lacks the dimension of edges, because a classic dimension of length 0 is the
// record dimension.
constexpr std::uint64_t kEmptyEvery = 7106;

// Scatters the bits of x by a bijection, the finaliser of SplitMix64.
constexpr std::uint64_t scatter(std::uint64_t x) {
  x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9;
  x = (x ^ (x >> 27)) * 0x94D049BB133111EB;
  return x ^ (x >> 31);
}

// A sequence of random numbers that can be computed in any order: number i does not depend on
// earlier numbers.
class Stream {
 public:
  Stream(std::uint64_t seed, std::uint64_t sample, std::uint64_t number)
      : base_(scatter(scatter(scatter(seed) + sample) + number)) {}
  std::uint64_t at(std::uint64_t i) const { return scatter(base_ + i * 0x9E3779B97F4A7C15); }
  std::uint64_t below(std::uint64_t i, std::uint64_t limit) const { return at(i) % limit; }
  // Returns a nearly normal number of mean 0 and variance 1, computed from four 16-bit numbers.
  float normal(std::uint64_t i) const {
    const std::uint64_t x = at(i);
    const std::uint64_t sum =
        (x & 0xFFFF) + ((x >> 16) & 0xFFFF) + ((x >> 32) & 0xFFFF) + (x >> 48);
    return (static_cast<float>(sum) - 131070.0F) / 37837.0F;
  }

 private:
  std::uint64_t base_;
};

struct Plane {
  std::uint64_t hits, edges, edges_in_space;
};

struct Sample {
  std::string name;  // "r4952_sr12_evt34"
  std::array<Plane, kPlanes.size()> planes;
  std::uint64_t space_points;
};

Sample make_sample(std::uint64_t seed, std::uint64_t number) {
  const Stream random(seed, number, 0);
  Sample sample;
  const std::uint64_t event = 1 + number % kSamplesOfRun * kEventStep + random.below(0, kEventStep);
  sample.name = "r" + std::to_string(4952 + number / kSamplesOfRun) + "_sr" +
                std::to_string(random.below(1, 1000)) + "_evt" + std::to_string(event);
  sample.space_points = 0;
  for (std::size_t p = 0; p < kPlanes.size(); ++p) {
    Plane& plane = sample.planes[p];
    // The number of hits is log-normal with a median of 148. The edges form a triangulation of the
    // hits, and each edge counts twice, once for each direction.
    const double hits = std::exp(5.0 + 0.8 * static_cast<double>(random.normal(2 + p)));
    plane.hits = static_cast<std::uint64_t>(std::clamp(hits, 20.0, 2000.0));
    plane.edges = 6 * plane.hits - 20;
    plane.edges_in_space = plane.hits / 2 + random.below(5 + p, plane.hits);
    if (p == 0 && number % kEmptyEvery == kEmptyEvery - 1) plane.edges_in_space = 0;
    sample.space_points = std::max(sample.space_points, plane.edges_in_space);
  }
  return sample;
}

enum class Content : std::uint8_t { kFeatures, kIndices, kLabels, kCount };

enum class Type : std::uint8_t { kFloat = 5, kInt64 = 10 };  // numbered as in netCDF

constexpr std::uint64_t size_of(Type type) { return type == Type::kFloat ? 4 : 8; }

// One variable of a sample, in the form in which the experiment's program writes it.
struct Array {
  std::string key;
  Type type;
  std::vector<std::uint64_t> shape;
  Content content;
  std::uint64_t limit;  // upper bound (exclusive) of random integers; for kCount, the value itself
};

// Returns the 16 arrays of a sample in the order of their keys.
std::vector<Array> arrays_of(const Sample& sample) {
  std::vector<Array> arrays;
  const auto per_plane = [&](const std::string& prefix, auto make) {
    for (std::size_t p = 0; p < kPlanes.size(); ++p) {
      arrays.push_back(make(sample.planes[p]));
      arrays.back().key = prefix + std::string(kPlanes[p]);
    }
  };
  using enum Content;
  const Type integer = Type::kInt64;
  per_plane("edge_index_3d_", [&](const Plane& plane) {
    return Array{{}, integer, {2, plane.edges_in_space}, kIndices, plane.hits};
  });
  per_plane("edge_index_", [&](const Plane& plane) {
    return Array{{}, integer, {2, plane.edges}, kIndices, plane.hits};
  });
  arrays.push_back(Array{"n_sp", integer, {}, kCount, sample.space_points});
  per_plane("x_", [&](const Plane& plane) {
    return Array{{}, Type::kFloat, {plane.hits, kFeaturesOfHit}, kFeatures, 0};
  });
  per_plane("y_i_", [&](const Plane& plane) {
    return Array{{}, integer, {plane.hits}, kLabels, 12};
  });
  per_plane("y_s_", [&](const Plane& plane) {
    return Array{{}, integer, {plane.hits}, kLabels, 5};
  });
  for (Array& array : arrays) std::erase(array.shape, 0U);
  return arrays;
}

std::string variable_name(const Sample& sample, const Array& array) {
  return "_grp_" + sample.name + "_" + array.key;
}

// Returns a number whose bytes in memory are big-endian.
constexpr std::uint32_t big_endian(std::uint32_t x) {
  if constexpr (std::endian::native == std::endian::big) return x;
  return x << 24 | (x & 0xFF00) << 8 | (x >> 8 & 0xFF00) | x >> 24;
}
constexpr std::uint64_t big_endian(std::uint64_t x) {
  if constexpr (std::endian::native == std::endian::big) return x;
  return std::uint64_t{big_endian(static_cast<std::uint32_t>(x))} << 32 |
         big_endian(static_cast<std::uint32_t>(x >> 32));
}

// Big-endian numbers and padded names: the parts of a CDF-5 file.
class Bytes {
 public:
  void number32(std::uint32_t value) {
    numbers<std::uint32_t>(1, [&](std::uint64_t) { return value; });
  }
  void number(std::uint64_t value) {
    numbers<std::uint64_t>(1, [&](std::uint64_t) { return value; });
  }
  void name(std::string_view name) {
    number(name.size());
    text_ += name;
    text_.resize((text_.size() + 3) / 4 * 4);
  }
  // Appends make(0), make(1), ...
  template <class T, class Make>
  void numbers(std::uint64_t count, Make make) {
    const std::size_t begin = text_.size();
    text_.resize(begin + count * sizeof(T));
    char* to = text_.data() + begin;
    for (std::uint64_t i = 0; i < count; ++i, to += sizeof(T)) {
      const T value = big_endian(T{make(i)});
      std::memcpy(to, &value, sizeof(T));
    }
  }
  void clear() { text_.clear(); }
  void append(const Bytes& other) { text_ += other.text_; }
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

// The header of a CDF-5 file of variables without records and attributes.
class Header {
 public:
  void add(const std::string& name, Type type, const std::vector<std::uint64_t>& shape) {
    Variable variable{Bytes(), size_of(type)};
    variable.head.name(name);
    variable.head.number(shape.size());
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
      variable.head.number(dimension_count);
      dimensions_.name(name + "_dim_" + std::to_string(axis));
      dimensions_.number(shape[axis]);
      ++dimension_count;
      variable.length *= shape[axis];
    }
    variable.head.number32(0), variable.head.number(0);  // no attributes
    variable.head.number32(static_cast<std::uint32_t>(type));
    variable.head.number(variable.length);
    variables_.push_back(std::move(variable));
  }

  // Returns the header. *end becomes the length of the file.
  std::string text(std::uint64_t* end) const {
    Bytes out;
    out.number32(0x43444605), out.number(0);  // "CDF", 5; no records
    list(&out, 10, dimension_count);
    out.append(dimensions_);
    list(&out, 0, 0);
    list(&out, 11, variables_.size());
    *end = out.text().size();
    for (const Variable& variable : variables_) *end += variable.head.text().size() + 8;
    for (const Variable& variable : variables_) {
      out.append(variable.head);
      out.number(*end);
      *end += variable.length;  // a multiple of 4
    }
    return out.text();
  }

  std::uint64_t variable_count() const { return variables_.size(); }
  std::uint64_t dimension_count = 0;

 private:
  struct Variable {
    Bytes head;
    std::uint64_t length;  // bytes of values
  };
  static void list(Bytes* out, std::uint32_t tag, std::uint64_t count) {
    out->number32(count == 0 ? 0 : tag), out->number(count);
  }
  Bytes dimensions_;
  std::vector<Variable> variables_;
};

void append_values(const Array& array, const Stream& random, Bytes* out) {
  std::uint64_t count = 1;
  for (std::uint64_t length : array.shape) count *= length;
  if (array.content == Content::kFeatures)
    out->numbers<std::uint32_t>(
        count, [&](std::uint64_t i) { return std::bit_cast<std::uint32_t>(random.normal(i)); });
  else if (array.content == Content::kCount)
    out->number(array.limit);
  else
    out->numbers<std::uint64_t>(count,
                                [&](std::uint64_t i) { return random.below(i, array.limit); });
}

struct Totals {
  std::uint64_t variables = 0, dimensions = 0, header_bytes = 0, bytes = 0;
};

// Writes samples [first, last) to a new file. If `with_values` is false, the file has the same
// length, but has a hole in place of the values.
void write_file(const std::string& path, std::uint64_t seed, std::uint64_t first,
                std::uint64_t last, bool with_values, Totals* totals) {
  Header header;
  for (std::uint64_t i = first; i < last; ++i) {
    const Sample sample = make_sample(seed, i);
    for (const Array& array : arrays_of(sample))
      header.add(variable_name(sample, array), array.type, array.shape);
  }
  std::uint64_t end = 0;
  const std::string text = header.text(&end);
  std::ofstream file;
  file.exceptions(std::ios::failbit | std::ios::badbit);
  file.open(path, std::ios::binary | std::ios::trunc);
  file << text;
  Bytes values;
  for (std::uint64_t i = first; with_values && i < last; ++i) {
    values.clear();
    // Each array has a random stream of its own; make_sample() uses stream 0.
    std::uint64_t number = 1;
    for (const Array& array : arrays_of(make_sample(seed, i)))
      append_values(array, Stream(seed, i, number++), &values);
    file << values.text();
  }
  file.close();
  std::filesystem::resize_file(path, end);
  totals->variables += header.variable_count();
  totals->dimensions += header.dimension_count;
  totals->header_bytes += text.size();
  totals->bytes += end;
}

}  // namespace

int main(int argc, char** argv) try {
  CLI::App app("Writes per-process CDF-5 files of graph samples.", "make_graph_samples");
  std::string folder;
  std::uint64_t files = 4, samples = 1000, seed = 1;
  bool sparse = false;
  app.add_option("FOLDER", folder, "folder for the files graphs.0000.nc, graphs.0001.nc, ...")
      ->required();
  app.add_option("--files", files, "number of files")->check(CLI::Range(1, 10000));
  app.add_option("--samples", samples, "number of samples in all files together")
      ->check(CLI::Range(0, 10'000'000));
  app.add_option("--seed", seed, "seed of the random numbers");
  app.add_flag("--sparse", sparse,
               "write only the headers: the values are a hole that reads as zeros");
  CLI11_PARSE(app, argc, argv);

  std::filesystem::create_directories(folder);
  Totals totals;
  for (std::uint64_t i = 0; i < files; ++i) {
    std::array<char, 32> name{};
    std::snprintf(name.data(), name.size(), "/graphs.%04ju.nc", std::uintmax_t{i});
    const std::string path = folder + name.data();
    write_file(path, seed, samples * i / files, samples * (i + 1) / files, !sparse, &totals);
  }
  std::printf("samples %ju variables %ju dimensions %ju header_bytes %ju bytes %ju\n",
              std::uintmax_t{samples}, std::uintmax_t{totals.variables},
              std::uintmax_t{totals.dimensions}, std::uintmax_t{totals.header_bytes},
              std::uintmax_t{totals.bytes});
  return 0;
} catch (const std::exception& error) {
  std::fprintf(stderr, "make_graph_samples: %s\n", error.what());
  return 2;
}
