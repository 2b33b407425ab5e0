// A routing function for BookSim2: packets follow listed paths, each with its probability.
//
// Copy this file into src/networks of BookSim2, and add three lines to anynet.cpp there:
//   below the other #include lines             #include "paths_anynet.hpp"
//   first in AnyNet::_BuildNet                 read_paths(file_name + ".paths");
//   first in AnyNet::RegisterRoutingFunctions  gRoutingFunctionMap["paths_anynet"] = &paths_anynet;
//
// A line of the file is: source, destination, probability, then for every router of the path, in order, its number, the
// output port and the class of virtual channels there. A path may visit a router several times: a packet carries its path
// (in intm) and its place on it (in ph). The first line says how many classes there are: num_vcs is divided evenly among
// them, so that it must be a multiple. Class -1, on the last hop to the node, is any virtual channel.
#ifndef PATHS_ANYNET_HPP
#define PATHS_ANYNET_HPP

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

struct ListedHop {
  int router, port, lane;
};

struct ListedPath {
  double up_to;                 // probabilities of the pair's paths, up to and including this one
  std::vector<ListedHop> hops;  // one for every router, in order
};

static bool is_before(double draw, const ListedPath &path) { return draw < path.up_to; }

static std::map<std::pair<int, int>, std::vector<ListedPath> > listed_paths;
static int listed_classes = 1;

static void read_paths(const std::string &name) {
  std::ifstream file(name.c_str());
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    int source, destination;
    double probability;
    if (line.compare(0, 8, "classes ") == 0) {
      listed_classes = atoi(line.c_str() + 8);
      continue;
    }
    if (!(words >> source >> destination >> probability)) continue;
    std::vector<ListedPath> &paths = listed_paths[std::make_pair(source, destination)];
    const double before = paths.empty() ? 0.0 : paths.back().up_to;
    paths.push_back(ListedPath());
    paths.back().up_to = before + probability;
    ListedHop hop;
    while (words >> hop.router >> hop.port >> hop.lane) paths.back().hops.push_back(hop);
  }
}

// A number from 0 to 1 that is the same for all flits of a packet (SplitMix64 of its number).
static double drawn(unsigned long long packet) {
  unsigned long long x = (packet + 1) * 0x9e3779b97f4a7c15ULL;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9ULL;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebULL;
  return ((x ^ (x >> 31)) >> 11) / 9007199254740992.0;
}

static void paths_anynet(const Router *r, const Flit *f, int, OutputSet *outputs, bool inject) {
  const std::vector<ListedPath> &paths = listed_paths[std::make_pair(f->src, f->dest)];
  int port = -1, first = 0, last = gNumVCs - 1;
  if (paths.empty()) {
    std::cerr << "no listed path from " << f->src << " to " << f->dest << std::endl;
    exit(-1);
  }
  if (inject) {  // any virtual channel on the way to the first router
    const size_t drawn_path = std::upper_bound(paths.begin(), paths.end(), drawn(f->pid), is_before) - paths.begin();
    f->intm = std::min(drawn_path, paths.size() - 1);
    f->ph = 0;
  } else {
    const std::vector<ListedHop> &hops = paths[f->intm].hops;
    // No router follows itself on a path, so one that is asked again about a packet gives the same answer.
    if (f->ph + 1 < (int)hops.size() && hops[f->ph].router != r->GetID()) ++f->ph;
    if (hops.empty() || hops[f->ph].router != r->GetID()) {
      std::cerr << "router " << r->GetID() << " is not next on the path from " << f->src << " to " << f->dest << std::endl;
      exit(-1);
    }
    const ListedHop &hop = hops[f->ph];
    port = hop.port;
    if (hop.lane >= 0) {
      if (gNumVCs % listed_classes != 0) {
        std::cerr << "num_vcs must be a multiple of " << listed_classes << std::endl;
        exit(-1);
      }
      first = hop.lane * (gNumVCs / listed_classes);
      last = first + gNumVCs / listed_classes - 1;
    }
  }
  outputs->Clear();
  outputs->AddRange(port, first, last);
}

#endif
