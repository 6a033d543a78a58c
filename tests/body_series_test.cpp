// Series of bodies and contacts that [write] leaves for other programs, read back by their format.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <map>
#include <sstream>

#include "program.h"
#include "ricochet/base/error.h"
#include "ricochet/scene/scene.h"

namespace ricochet::testing::body_series_test {
namespace {

/// A box that falls, turns and lands on a floor beside a disc that rolls; a disc that is born late.
const std::string kPlane = R"toml(
[world]
dimension = 2
gravity   = [0, -9.81]
[material.wood]
density = 600
[pair]
default = { friction = 0.4, rolling = 0.01 }
[body.box]
box      = [0.2, 0.3]
at       = [0, 0.3]
spin     = 2
velocity = [0.5, 0]
material = "wood"
[body.disc]
disc     = 0.1
at       = [1, 0.1]
velocity = [0.4, 0]
spin     = -4
material = "wood"
[body.late]
disc     = 0.1
at       = [3, 0.5]
born     = 0.1
material = "wood"
[body.floor]
fixed      = true
half_plane = { point = [0, 0], normal = [0, 1] }
[run]
step   = 0.001
until  = 0.2
record = 10
[write]
bodies   = { every = 0.01 }
contacts = { every = 0.02, format = "vtk" }
)toml";

const std::string kSpace = R"toml(
[world]
dimension = 3
gravity   = [0, 0, -9.81]
[material.wood]
density = 600
[pair]
default = { friction = 0.4, rolling = 0.01 }
[body.box]
box      = [0.2, 0.3, 0.4]
at       = [0, 0, 1]
spin     = [2, -1, 3]
material = "wood"
[body.ball]
sphere   = 0.1
at       = [1, 0, 0.1]
velocity = [0.4, 0.2, 0]
material = "wood"
[body.floor]
fixed      = true
half_space = { point = [0, 0, 0], normal = [0, 0, 1] }
[run]
step   = 0.001
until  = 0.2
record = 20
[write]
bodies   = { every = 0.02 }
contacts = { every = 0.02 }
)toml";

/// Bytes of a text in base 64.
std::string decoded(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string bytes;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    const std::size_t digit = digits.find(c);
    if (digit == std::string::npos) break;
    bits = bits << 6U | static_cast<std::uint32_t>(digit);
    count += 6;
    if (count < 8) continue;
    count -= 8;
    bytes += static_cast<char>(bits >> static_cast<unsigned>(count) & 255U);
  }
  return bytes;
}

/// The value of an attribute, from a place on.
std::string attribute(const std::string& text, const std::string& name, std::size_t from = 0) {
  const std::size_t at = text.find(name + "=\"", from);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + name.size() + 2;
  return text.substr(begin, text.find('"', begin) - begin);
}

/// One array of a part of a .vtp file.
template <class Number>
std::vector<Number> array_of(const std::string& text, const std::string& part,
                             const std::string& name) {
  const std::size_t in = text.find("<" + part + ">");
  const std::size_t at = text.find("Name=\"" + name + "\"", in);
  EXPECT_LT(at, text.find("</" + part + ">", in)) << part << " " << name;
  const std::size_t begin = text.find('>', at) + 1;
  const std::string bytes = decoded(text.substr(begin, text.find('<', begin) - begin));
  std::uint64_t size = 0;
  std::memcpy(&size, bytes.data(), 8);
  EXPECT_EQ(size + 8, bytes.size());
  std::vector<Number> values(size / sizeof(Number));
  std::memcpy(values.data(), bytes.data() + 8, size);
  return values;
}

/// Columns of trajectory.csv by name.
std::map<std::string, std::vector<double>> columns_of(const std::string& csv) {
  std::istringstream lines(csv);
  std::string line;
  std::getline(lines, line);
  std::vector<std::string> names;
  std::istringstream head(line);
  for (std::string name; std::getline(head, name, ',');) names.push_back(name);
  std::map<std::string, std::vector<double>> columns;
  while (std::getline(lines, line)) {
    std::istringstream row(line);
    std::string number;
    for (const std::string& name : names) {
      std::getline(row, number, ',');
      columns[name].push_back(std::stod(number));
    }
  }
  return columns;
}

/// Files of a .pvd with their times.
std::vector<std::pair<double, std::string>> files_of(const std::string& pvd) {
  std::vector<std::pair<double, std::string>> files;
  for (std::size_t at = pvd.find("<DataSet"); at != std::string::npos;
       at = pvd.find("<DataSet", at + 1)) {
    files.emplace_back(std::stod(attribute(pvd, "timestep", at)), attribute(pvd, "file", at));
  }
  return files;
}

/// The middle of the points of cell k, in its own polygon or line.
std::array<double, 3> middle_of(const std::string& vtp, const std::string& part, std::size_t k) {
  const auto points = array_of<double>(vtp, "Points", "points");
  const auto corners = array_of<std::int64_t>(vtp, part, "connectivity");
  const auto ends = array_of<std::int64_t>(vtp, part, "offsets");
  const auto begin = static_cast<std::size_t>(k == 0 ? 0 : ends[k - 1]);
  const auto end = static_cast<std::size_t>(ends[k]);
  std::array<double, 3> sum{};
  for (std::size_t j = begin; j < end; ++j) {
    for (std::size_t c = 0; c < 3; ++c) {
      sum[c] +=
          points[3 * static_cast<std::size_t>(corners[j]) + c] / static_cast<double>(end - begin);
    }
  }
  return sum;
}

TEST(BodySeries, OfThePlaneShowWhatTheTrajectoryTells) {  // roundoff
  const Folder folder;
  write_file(folder / "plane.toml", kPlane);
  write_file(folder / "bodies-00099.vtp", "of a run before");
  const Finished run = run_program({"run", "plane.toml", "--out", "."}, folder.path());
  ASSERT_EQ(run.code, 0) << run.err << run.out;
  EXPECT_NE(run.out.find("bodies.pvd (21"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("contacts.pvd (11"), std::string::npos) << run.out;
  EXPECT_FALSE(std::filesystem::exists(folder / "bodies-00099.vtp"));
  const auto rows = columns_of(read_file(folder / "trajectory.csv"));
  const auto files = files_of(read_file(folder / "bodies.pvd"));
  ASSERT_EQ(files.size(), 21U);
  for (std::size_t k = 0; k < files.size(); ++k) {
    const std::string vtp = read_file(folder / files[k].second);
    EXPECT_EQ(files[k].first, rows.at("t")[k]);
    const bool is_born = files[k].first >= 0.1;
    EXPECT_EQ(attribute(vtp, "NumberOfPolys"), is_born ? "4" : "3");
    const auto body = array_of<std::int32_t>(vtp, "CellData", "body");
    const auto velocity = array_of<double>(vtp, "CellData", "velocity");
    const auto spin = array_of<double>(vtp, "CellData", "spin");
    const std::array<std::string, 3> names = {"box", "disc", "late"};
    for (std::size_t i = 0; i < (is_born ? 3U : 2U); ++i) {
      EXPECT_EQ(body[i], static_cast<std::int32_t>(i));
      const auto at = middle_of(vtp, "Polys", i);
      EXPECT_NEAR(at[0], rows.at(names[i] + ".x")[k], 1e-14);
      EXPECT_NEAR(at[1], rows.at(names[i] + ".y")[k], 1e-14);
      EXPECT_EQ(velocity[3 * i], rows.at("d_" + names[i] + ".x")[k]);
      EXPECT_EQ(velocity[3 * i + 1], rows.at("d_" + names[i] + ".y")[k]);
      EXPECT_EQ(spin[3 * i + 2], rows.at("d_" + names[i] + ".angle")[k]);
    }
    // The first corner of the disc turns with it.
    const auto points = array_of<double>(vtp, "Points", "points");
    const auto corners = array_of<std::int64_t>(vtp, "Polys", "connectivity");
    const auto first = static_cast<std::size_t>(corners[4]);
    EXPECT_NEAR(points[3 * first] - rows.at("disc.x")[k], 0.1 * std::cos(rows.at("disc.angle")[k]),
                1e-14);
  }
}

TEST(BodySeries, OfContactsCarryTheWeight) {  // roundoff
  const Folder folder;
  write_file(folder / "plane.toml", kPlane);
  ASSERT_EQ(run_program({"run", "plane.toml", "--out", "."}, folder.path()).code, 0);
  const auto files = files_of(read_file(folder / "contacts.pvd"));
  ASSERT_EQ(files.size(), 11U);
  for (std::size_t k = 0; k < files.size(); ++k) {
    const std::string vtp = read_file(folder / files[k].second);
    const auto first = array_of<std::int32_t>(vtp, "PointData", "body_a");
    const auto impulse = array_of<double>(vtp, "PointData", "impulse");
    const auto normal = array_of<double>(vtp, "PointData", "impulse_n");
    const auto points = array_of<double>(vtp, "Points", "points");
    EXPECT_EQ(points.size(),
              9 * static_cast<std::size_t>(std::stoi(attribute(vtp, "NumberOfVerts"))));
    bool rolls = false;
    for (std::size_t i = 0; i < first.size(); i += 3) {
      if (first[i] != 1) continue;  // the disc, which rolls on the floor
      rolls = true;
      EXPECT_NEAR(normal[i], 9.81 * 0.001 * 600.0 * 3.14159265358979324 * 0.01, 1e-12);
      EXPECT_NEAR(impulse[3 * i + 1], normal[i], 1e-12);
      EXPECT_NEAR(points[3 * i + 1], 0.0, 1e-9);
      EXPECT_EQ(impulse[3 * (i + 1)], 0.0);
    }
    EXPECT_EQ(rolls, k > 0) << files[k].first;
  }
}

TEST(BodySeries, OfSpaceHaveSpheresAsPoints) {  // roundoff
  const Folder folder;
  write_file(folder / "space.toml", kSpace);
  const Finished run = run_program({"run", "space.toml", "--out", "."}, folder.path());
  ASSERT_EQ(run.code, 0) << run.err << run.out;
  const auto rows = columns_of(read_file(folder / "trajectory.csv"));
  const auto files = files_of(read_file(folder / "bodies.pvd"));
  ASSERT_EQ(files.size(), 11U);
  for (std::size_t k = 0; k < files.size(); ++k) {
    const std::string vtp = read_file(folder / files[k].second);
    EXPECT_EQ(attribute(vtp, "NumberOfVerts"), "1");
    EXPECT_EQ(attribute(vtp, "NumberOfPolys"), "7");  // six sides and the floor
    EXPECT_EQ(array_of<double>(vtp, "PointData", "radius")[0], 0.1);
    std::array<double, 3> box{};
    for (std::size_t side = 0; side < 6; ++side) {
      const auto at = middle_of(vtp, "Polys", side);
      for (std::size_t c = 0; c < 3; ++c) box[c] += at[c] / 6.0;
    }
    const auto ball = middle_of(vtp, "Verts", 0);
    const std::array<std::string, 3> axes = {".x", ".y", ".z"};
    for (std::size_t c = 0; c < 3; ++c) {
      EXPECT_NEAR(box[c], rows.at("box" + axes[c])[k], 1e-14);
      EXPECT_EQ(ball[c], rows.at("ball" + axes[c])[k]);
    }
  }
}

TEST(BodySeries, InHdf5AreOneFile) {
  const Folder folder;
  std::string text = kPlane;
  text.replace(text.find("{ every = 0.01 }"), 16, "{ every = 0.01, format = \"hdf5\" }");
  write_file(folder / "plane.toml", text);
  const Finished run = run_program({"run", "plane.toml", "--out", "."}, folder.path());
  ASSERT_EQ(run.code, 0) << run.err << run.out;
  EXPECT_TRUE(read_file(folder / "bodies.h5").starts_with("\x89HDF"));
  EXPECT_FALSE(std::filesystem::exists(folder / "bodies.pvd"));
}

TEST(BodySeries, WrongInputIsRefusedWithWords) {
  const auto says = [](const std::string& what, const std::string& with, const std::string& words) {
    std::string text = kPlane;
    text.replace(text.find(what), what.size(), with);
    std::string fault;
    try {
      (void)scene::read_scene("series.toml", text);
    } catch (const base::InputError& error) {
      fault = error.what();
    }
    EXPECT_NE(fault.find(words), std::string::npos) << "wanted: " << words << "\nfound: " << fault;
  };
  says("every = 0.01 }", "every = 0.0105 }", "whole number of steps");
  says("every = 0.01 }", "every = -1 }", "whole number of steps");
  says("every = 0.01 }", "evry = 0.01 }", "every");
  says("format = \"vtk\"", "format = \"stl\"", "'stl' is not known");
  says("bodies   =", "bodis   =", "bodies");
  says("[write]", "[family]\n\"run.step\" = [0.001, 0.002]\n[write]", "beside [family]");
}

}  // namespace
}  // namespace ricochet::testing::body_series_test
