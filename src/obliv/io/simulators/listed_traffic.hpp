// Traffic for BookSim2 that is listed in a file: pairs of nodes with rates, and so permutations, matrices and hot nodes.
//
// Copy this file into src of BookSim2, and add two lines to traffic.cpp and two to injection.cpp there:
//   below the other #include lines of both  #include "listed_traffic.hpp"
//   first in TrafficPattern::New            if (is_listed(pattern)) return new ListedTraffic(pattern, nodes);
//   first in InjectionProcess::New          if (is_listed(inject)) return new ListedInjection(inject, nodes, load);
//
// A configuration has traffic = listed(FILE); and injection_process = listed(FILE);. The first line of the file is: nodes,
// their number, uniform, and what every node sends to all nodes alike, itself included. Every other line is: source,
// destination, rate. All are packets per cycle at injection_rate = 1: they are multiplied by injection_rate.
#ifndef LISTED_TRAFFIC_HPP
#define LISTED_TRAFFIC_HPP

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

#include "injection.hpp"
#include "random_utils.hpp"
#include "traffic.hpp"

inline bool is_listed(const std::string &name) { return name.compare(0, 7, "listed(") == 0; }

struct ListedRates {
  struct Node {
    std::vector<double> up_to;  // rates up to and including that of the destination; uniform traffic comes first
    std::vector<int> destination;
  };
  double uniform;
  std::vector<Node> nodes;

  ListedRates(const std::string &name, int count) : uniform(0.0), nodes(count) {
    const std::string path = name.substr(7, name.find_last_of(')') - 7);
    std::ifstream file(path.c_str());
    std::string line, word;
    int number = -1;
    if (std::getline(file, line)) {
      std::istringstream words(line);
      words >> word >> number >> word >> uniform;
    }
    if (number != count) refuse(path, "it is not a list of rates for this network");
    while (std::getline(file, line)) {
      std::istringstream words(line);
      int source, destination;
      double rate;
      if (!(words >> source >> destination >> rate) || std::min(source, destination) < 0 ||
          std::max(source, destination) >= count || rate < 0) {
        refuse(path, "not a source, a destination and a rate: " + line);
      }
      nodes[source].up_to.push_back(total(source) + rate);
      nodes[source].destination.push_back(destination);
    }
  }

  double total(int source) const { return nodes[source].up_to.empty() ? uniform : nodes[source].up_to.back(); }

  static void refuse(const std::string &path, const std::string &why) {
    std::cerr << path << ": " << why << std::endl;
    exit(-1);
  }
};

class ListedTraffic : public TrafficPattern {
  ListedRates _rates;

 public:
  ListedTraffic(const std::string &name, int nodes) : TrafficPattern(nodes), _rates(name, nodes) {}
  virtual int dest(int source) {
    const ListedRates::Node &node = _rates.nodes[source];
    const double draw = RandomFloat() * _rates.total(source);
    if (draw < _rates.uniform || node.destination.empty()) return RandomInt(_nodes - 1);
    const size_t place = std::upper_bound(node.up_to.begin(), node.up_to.end(), draw) - node.up_to.begin();
    return node.destination[std::min(place, node.destination.size() - 1)];
  }
};

class ListedInjection : public InjectionProcess {
  ListedRates _rates;

 public:
  ListedInjection(const std::string &name, int nodes, double rate) : InjectionProcess(nodes, rate), _rates(name, nodes) {
    for (int source = 0; source < nodes; ++source) {
      if (_rates.total(source) * rate <= 1.0 + 1e-9) continue;
      ListedRates::refuse(name, "a node sends more than one packet per cycle: choose a lower injection_rate");
    }
  }
  virtual bool test(int source) { return RandomFloat() < _rate * _rates.total(source); }
};

#endif
