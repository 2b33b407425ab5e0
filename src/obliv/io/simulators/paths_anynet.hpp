// A routing function for BookSim2: packets follow listed paths, each with its probability.
//
// Copy this file into src/networks of BookSim2, and add three lines to anynet.cpp there:
//   below the other #include lines             #include "paths_anynet.hpp"
//   first in AnyNet::_BuildNet                 read_paths(file_name + ".paths");
//   first in AnyNet::RegisterRoutingFunctions  gRoutingFunctionMap["paths_anynet"] = &paths_anynet;
//
// A line of the file is: source, destination, probability, then for every router of the path its number, the output port
// and the class of virtual channels there. The first line says how many classes there are: num_vcs is divided evenly among
// them, so that it must be a multiple. Class -1, on the last hop to the node, is any virtual channel.
#ifndef PATHS_ANYNET_HPP
#define PATHS_ANYNET_HPP

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

struct ListedPath {
  double up_to;                                  // probabilities of the pair's paths, up to and including this one
  std::map<int, std::pair<int, int> > way;       // output port and class of virtual channels by router
};

static std::map<std::pair<int, int>, std::vector<ListedPath> > listed_paths;
static int listed_classes = 1;

static void read_paths(const std::string &name) {
  std::ifstream file(name.c_str());
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    int source, destination, router, port, lane;
    double probability;
    if (line.compare(0, 8, "classes ") == 0) {
      listed_classes = atoi(line.c_str() + 8);
      continue;
    }
    if (!(words >> source >> destination >> probability)) continue;
    std::vector<ListedPath> &paths = listed_paths[std::make_pair(source, destination)];
    ListedPath path;
    path.up_to = probability + (paths.empty() ? 0.0 : paths.back().up_to);
    while (words >> router >> port >> lane) path.way[router] = std::make_pair(port, lane);
    paths.push_back(path);
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
  int port = -1, first = 0, last = gNumVCs - 1;
  if (!inject) {
    const std::vector<ListedPath> &paths = listed_paths[std::make_pair(f->src, f->dest)];
    const double draw = drawn(f->pid);
    size_t chosen = 0;
    while (chosen + 1 < paths.size() && paths[chosen].up_to <= draw) ++chosen;
    if (paths.empty() || !paths[chosen].way.count(r->GetID())) {
      std::cerr << "no listed path from " << f->src << " to " << f->dest << " at router " << r->GetID() << std::endl;
      exit(-1);
    }
    const std::pair<int, int> &way = paths[chosen].way.find(r->GetID())->second;
    port = way.first;
    if (way.second >= 0) {
      if (gNumVCs % listed_classes != 0) {
        std::cerr << "num_vcs must be a multiple of " << listed_classes << std::endl;
        exit(-1);
      }
      first = way.second * (gNumVCs / listed_classes);
      last = first + gNumVCs / listed_classes - 1;
    }
  }
  outputs->Clear();
  outputs->AddRange(port, first, last);
}

#endif
