// Runs a network that obliv exported in ns-3, and prints the load of every channel in obliv's units.
// Copy it into the folder scratch/ of ns-3, then:  ./ns3 run "obliv-ns3 --network=FILE --rate=0.1"
//
// Routes are static ones of ns-3, or listed paths, of which every packet draws one.
//
// Loads are packets sent over a channel per packet that a terminal of rate 1 offers, divided by the bandwidth:
// channel_load of obliv. Packets of equal length and equal distances, from a random instant on, so that loads vary
// little between runs.
#include <cstdint>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

using namespace ns3;

namespace {

const uint32_t kBytes = 1000;    // a packet on the wire: headers of UDP, IPv4 and PPP, and the rest
const uint32_t kHeaders = 8 + 20 + 2;
const double kBitsPerSecond = 1e9;  // of a channel with bandwidth 1
const double kPacketTime = 8 * kBytes / kBitsPerSecond;
const uint16_t kPort = 9;

struct Flow {
  uint32_t source, destination;
  double share;
};

// One path of a flow: the probability of it and the paths before it, and its links in order.
struct Path {
  double until;
  std::vector<uint32_t> links;
};

typedef std::pair<uint32_t, uint32_t> Pair;

std::vector<Path> paths;                          // all of them
std::map<Pair, std::vector<uint32_t>> paths_of;   // by source and destination
std::vector<Pair> link_nodes;
std::vector<Ipv4InterfaceContainer> ends;         // of links
Ptr<UniformRandomVariable> chance;

// The path of a packet, by its number.
class PathTag : public Tag {
 public:
  static TypeId GetTypeId() {
    static TypeId id = TypeId("PathTag").SetParent<Tag>().AddConstructor<PathTag>();
    return id;
  }
  TypeId GetInstanceTypeId() const override { return GetTypeId(); }
  uint32_t GetSerializedSize() const override { return 4; }
  void Serialize(TagBuffer buffer) const override { buffer.WriteU32(path); }
  void Deserialize(TagBuffer buffer) override { path = buffer.ReadU32(); }
  void Print(std::ostream& stream) const override { stream << path; }
  uint32_t path = 0;
};

// Sends every packet along the path in its tag; how far it has come follows from its time to live.
class PathRouting : public Ipv4RoutingProtocol {
 public:
  Ptr<Ipv4Route> RouteOutput(Ptr<Packet> packet, const Ipv4Header& header, Ptr<NetDevice>,
                             Socket::SocketErrno& error) override {
    Ptr<Ipv4Route> route = Next(packet, header, 0);
    error = route ? Socket::ERROR_NOTERROR : Socket::ERROR_NOROUTETOHOST;
    return route;
  }
  // ns-3 passes its callbacks by value or by reference, depending on the version.
  bool RouteInput(Ptr<const Packet> packet, const Ipv4Header& header, Ptr<const NetDevice> device,
                  const UnicastForwardCallback& forward, const MulticastForwardCallback&,
                  const LocalDeliverCallback& deliver, const ErrorCallback&) {
    return Arrived(packet, header, device, forward, deliver);
  }
  bool RouteInput(Ptr<const Packet> packet, const Ipv4Header& header, Ptr<const NetDevice> device,
                  UnicastForwardCallback forward, MulticastForwardCallback, LocalDeliverCallback deliver,
                  ErrorCallback) {
    return Arrived(packet, header, device, forward, deliver);
  }
  void NotifyInterfaceUp(uint32_t) override {}
  void NotifyInterfaceDown(uint32_t) override {}
  void NotifyAddAddress(uint32_t, Ipv4InterfaceAddress) override {}
  void NotifyRemoveAddress(uint32_t, Ipv4InterfaceAddress) override {}
  void SetIpv4(Ptr<Ipv4> ipv4) override { stack = ipv4; }
  void PrintRoutingTable(Ptr<OutputStreamWrapper>, Time::Unit) const override {}

 private:
  bool Arrived(Ptr<const Packet> packet, const Ipv4Header& header, Ptr<const NetDevice> device,
               UnicastForwardCallback forward, LocalDeliverCallback deliver) {
    PathTag tag;
    if (!packet->PeekPacketTag(tag)) return false;
    const uint32_t crossed = 65 - header.GetTtl();  // the first router finds 64
    if (crossed == paths[tag.path].links.size()) {
      deliver(packet, header, stack->GetInterfaceForDevice(device));
    } else {
      forward(Next(packet, header, crossed), packet, header);
    }
    return true;
  }
  Ptr<Ipv4Route> Next(Ptr<const Packet> packet, const Ipv4Header& header, uint32_t crossed) {
    PathTag tag;
    if (!packet || !packet->PeekPacketTag(tag)) return nullptr;
    const uint32_t link = paths[tag.path].links[crossed];
    const uint32_t here = link_nodes[link].first == stack->GetObject<Node>()->GetId() ? 0 : 1;
    Ptr<Ipv4Route> route = Create<Ipv4Route>();
    route->SetDestination(header.GetDestination());
    route->SetSource(ends[link].GetAddress(here));
    route->SetGateway(ends[link].GetAddress(1 - here));
    route->SetOutputDevice(stack->GetNetDevice(ends[link].Get(here).second));
    return route;
  }
  Ptr<Ipv4> stack;
};

class PathRoutingHelper : public Ipv4RoutingHelper {
 public:
  Ipv4RoutingHelper* Copy() const override { return new PathRoutingHelper(*this); }
  Ptr<Ipv4RoutingProtocol> Create(Ptr<Node>) const override { return CreateObject<PathRouting>(); }
};

double from_time, until_time;
std::vector<uint64_t> sent;  // packets by device
uint64_t offered = 0, delivered = 0;

bool Counted() {
  const double now = Simulator::Now().GetSeconds();
  return now >= from_time && now < until_time;
}

void Transmitted(uint32_t device, Ptr<const Packet>) {
  if (Counted()) ++sent[device];
}

void Received(Ptr<Socket> socket) {
  Address from;
  while (socket->RecvFrom(from)) {
    if (Counted()) ++delivered;
  }
}

void Send(Ptr<Socket> socket, InetSocketAddress to, Time distance, Pair pair) {
  if (Simulator::Now().GetSeconds() >= until_time) return;
  if (Counted()) ++offered;
  Ptr<Packet> packet = Create<Packet>(kBytes - kHeaders);
  const std::map<Pair, std::vector<uint32_t>>::const_iterator listed = paths_of.find(pair);
  if (listed != paths_of.end()) {
    const double drawn = chance->GetValue(0, 1);
    PathTag tag;
    for (const uint32_t path : listed->second) {
      tag.path = path;
      if (drawn < paths[path].until) break;
    }
    packet->AddPacketTag(tag);
    if (paths[tag.path].links.empty()) {  // for the sender itself, without a hop
      if (Counted()) ++delivered;
      packet = nullptr;
    }
  }
  if (packet) socket->SendTo(packet, 0, to);
  Simulator::Schedule(distance, &Send, socket, to, distance, pair);
}

std::string BitsPerSecond(double bandwidth) {
  std::ostringstream text;
  text << static_cast<uint64_t>(kBitsPerSecond * bandwidth) << "bps";
  return text.str();
}

}  // namespace

int main(int argc, char* argv[]) {
  std::string network;
  double rate = 0.1, time = 10000, warmup = 1000;
  CommandLine command;
  command.AddValue("network", "file that obliv wrote", network);
  command.AddValue("rate", "packets per packet time that a terminal of rate 1 offers", rate);
  command.AddValue("time", "packet times that are measured", time);
  command.AddValue("warmup", "packet times before that", warmup);
  command.Parse(argc, argv);
  from_time = warmup * kPacketTime;
  until_time = (warmup + time) * kPacketTime;

  std::ifstream file(network.c_str());
  if (!file) {
    std::cerr << "no file " << network << ": give --network=FILE" << std::endl;
    return 2;
  }
  NodeContainer nodes;
  Ipv4StaticRoutingHelper routing;
  PathRoutingHelper by_paths;
  std::vector<NetDeviceContainer> links;
  std::vector<std::pair<int, int>> channels;
  std::vector<std::pair<double, double>> speeds;
  std::map<uint32_t, Ipv4Address> address;  // of a node: that of its first link
  std::vector<Flow> flows;
  Ipv4AddressHelper addresses;
  addresses.SetBase("10.0.0.0", "255.255.255.252");

  std::string line, word;
  while (std::getline(file, line)) {
    std::istringstream words(line);
    words >> word;
    if (word == "nodes") {
      uint32_t count;
      std::string kind;
      words >> count >> kind;
      nodes.Create(count);
      InternetStackHelper stack;
      if (kind == "paths") {
        stack.SetRoutingHelper(by_paths);
      } else {
        stack.SetRoutingHelper(routing);
      }
      stack.SetIpv6StackInstall(false);
      stack.Install(nodes);
    } else if (word == "link") {
      uint32_t a, b;
      int forth, back;
      double forth_speed, back_speed;
      words >> a >> b >> forth >> forth_speed >> back >> back_speed;
      PointToPointHelper cable;
      cable.SetChannelAttribute("Delay", StringValue("100ns"));
      NetDeviceContainer devices = cable.Install(nodes.Get(a), nodes.Get(b));
      devices.Get(0)->SetAttribute("DataRate", StringValue(BitsPerSecond(forth_speed)));
      devices.Get(1)->SetAttribute("DataRate", StringValue(BitsPerSecond(back_speed)));
      for (uint32_t end = 0; end < 2; ++end) {
        devices.Get(end)->TraceConnectWithoutContext(
            "PhyTxEnd", MakeBoundCallback(&Transmitted, static_cast<uint32_t>(sent.size())));
        sent.push_back(0);
      }
      links.push_back(devices);
      ends.push_back(addresses.Assign(devices));
      addresses.NewNetwork();
      channels.push_back(std::make_pair(forth, back));
      speeds.push_back(std::make_pair(forth_speed, back_speed));
      link_nodes.push_back(std::make_pair(a, b));
      address.insert(std::make_pair(a, ends.back().GetAddress(0)));
      address.insert(std::make_pair(b, ends.back().GetAddress(1)));
    } else if (word == "route") {
      uint32_t node, destination, link;
      words >> node >> destination >> link;
      const uint32_t here = link_nodes[link].first == node ? 0 : 1;
      Ptr<Ipv4> stack = nodes.Get(node)->GetObject<Ipv4>();
      routing.GetStaticRouting(stack)->AddHostRouteTo(
          address[destination], ends[link].GetAddress(1 - here), ends[link].Get(here).second);
    } else if (word == "path") {
      Pair pair;
      Path path;
      double probability;
      uint32_t link;
      words >> pair.first >> pair.second >> probability;
      while (words >> link) path.links.push_back(link);
      std::vector<uint32_t>& own = paths_of[pair];
      path.until = probability + (own.empty() ? 0 : paths[own.back()].until);
      own.push_back(paths.size());
      paths.push_back(path);
    } else if (word == "flow") {
      Flow flow;
      words >> flow.source >> flow.destination >> flow.share;
      flows.push_back(flow);
    }
  }

  std::vector<Ptr<Socket>> sockets;
  for (uint32_t node = 0; node < nodes.GetN(); ++node) {
    Ptr<Socket> socket = Socket::CreateSocket(nodes.Get(node), UdpSocketFactory::GetTypeId());
    socket->Bind(InetSocketAddress(Ipv4Address::GetAny(), kPort));
    socket->SetRecvCallback(MakeCallback(&Received));
    sockets.push_back(socket);
  }
  chance = CreateObject<UniformRandomVariable>();
  for (const Flow& flow : flows) {
    const double distance = kPacketTime / (rate * flow.share);
    Simulator::Schedule(Seconds(chance->GetValue(0, distance)), &Send, sockets[flow.source],
                        InetSocketAddress(address[flow.destination], kPort), Seconds(distance),
                        Pair(flow.source, flow.destination));
  }
  Simulator::Stop(Seconds(until_time));
  Simulator::Run();

  std::cout << "channel,tail,head,load,utilization" << std::endl;
  for (std::size_t link = 0; link < links.size(); ++link) {
    const uint32_t a = link_nodes[link].first, b = link_nodes[link].second;
    for (int back = 0; back < 2; ++back) {
      const int channel = back ? channels[link].second : channels[link].first;
      if (channel < 0) continue;
      const double speed = back ? speeds[link].second : speeds[link].first;
      const double used = sent[2 * link + back] / time / speed;
      std::cout << channel << ',' << (back ? b : a) << ',' << (back ? a : b) << ',' << used / rate << ',' << used
                << std::endl;
    }
  }
  std::cout << "# delivered " << delivered << " of " << offered << " packets" << std::endl;
  chance = nullptr;
  Simulator::Destroy();
  return 0;
}
