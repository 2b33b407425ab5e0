// Runs a network that obliv exported in ns-3, and prints the load of every channel in obliv's units.
// Copy it into the folder scratch/ of ns-3, then:  ./ns3 run "obliv-ns3 --network=FILE --rate=0.1"
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

void Send(Ptr<Socket> socket, InetSocketAddress to, Time distance) {
  if (Simulator::Now().GetSeconds() >= until_time) return;
  if (Counted()) ++offered;
  socket->SendTo(Create<Packet>(kBytes - kHeaders), 0, to);
  Simulator::Schedule(distance, &Send, socket, to, distance);
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
  std::vector<NetDeviceContainer> links;
  std::vector<Ipv4InterfaceContainer> ends;
  std::vector<std::pair<int, int>> channels;
  std::vector<std::pair<double, double>> speeds;
  std::vector<std::pair<uint32_t, uint32_t>> link_nodes;
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
      words >> count;
      nodes.Create(count);
      InternetStackHelper stack;
      stack.SetRoutingHelper(routing);
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
  Ptr<UniformRandomVariable> chance = CreateObject<UniformRandomVariable>();
  for (const Flow& flow : flows) {
    const double distance = kPacketTime / (rate * flow.share);
    Simulator::Schedule(Seconds(chance->GetValue(0, distance)), &Send, sockets[flow.source],
                        InetSocketAddress(address[flow.destination], kPort), Seconds(distance));
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
  Simulator::Destroy();
  return 0;
}
