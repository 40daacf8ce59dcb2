// SPDX-FileCopyrightText: gpuprof contributors
// SPDX-License-Identifier: Apache-2.0

// See peer_user.h. The kernel looks a single socket up by its addresses (sock_diag(7)).

#include "launcher/base/peer_user.h"

#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/sock_diag.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstring>

namespace gpuprof::launcher {

namespace {

// Puts an address into a question. An IPv4 client of an IPv6 socket has an IPv4 socket itself.
bool PutAddress(const sockaddr_storage& address, inet_diag_req_v2* question, __be16* port,
                __be32* words) {
  if (address.ss_family == AF_INET) {
    const auto& four = reinterpret_cast<const sockaddr_in&>(address);
    question->sdiag_family = AF_INET;
    *port = four.sin_port;
    words[0] = four.sin_addr.s_addr;
    return true;
  }
  if (address.ss_family != AF_INET6) return false;
  const auto& six = reinterpret_cast<const sockaddr_in6&>(address);
  *port = six.sin6_port;
  if (IN6_IS_ADDR_V4MAPPED(&six.sin6_addr)) {
    question->sdiag_family = AF_INET;
    std::memcpy(words, six.sin6_addr.s6_addr + 12, sizeof words[0]);
    return true;
  }
  question->sdiag_family = AF_INET6;
  std::memcpy(words, &six.sin6_addr, sizeof six.sin6_addr);
  return true;
}

}  // namespace

PeerUser::PeerUser() : kernel_(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG)) {}

std::optional<uid_t> PeerUser::Of(int connection) {
  sockaddr_storage ours = {}, theirs = {};
  socklen_t size = sizeof ours, other_size = sizeof theirs;
  if (kernel_.fd() < 0 || getsockname(connection, reinterpret_cast<sockaddr*>(&ours), &size) != 0 ||
      getpeername(connection, reinterpret_cast<sockaddr*>(&theirs), &other_size) != 0)
    return std::nullopt;
  struct {
    nlmsghdr header;
    inet_diag_req_v2 question;
  } request = {};
  request.header.nlmsg_len = sizeof request;
  request.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
  request.header.nlmsg_flags = NLM_F_REQUEST;
  request.question.sdiag_protocol = IPPROTO_TCP;
  request.question.idiag_states = ~0u;
  // As the other end sees itself.
  inet_diag_sockid& id = request.question.id;
  id.idiag_cookie[0] = INET_DIAG_NOCOOKIE;
  id.idiag_cookie[1] = INET_DIAG_NOCOOKIE;
  if (!PutAddress(theirs, &request.question, &id.idiag_sport, id.idiag_src) ||
      !PutAddress(ours, &request.question, &id.idiag_dport, id.idiag_dst))
    return std::nullopt;
  if (send(kernel_.fd(), &request, sizeof request, MSG_DONTWAIT) != ssize_t{sizeof request})
    return std::nullopt;
  struct {
    nlmsghdr header;
    inet_diag_msg socket;
    char more[1024];
  } answer;
  const ssize_t got = recv(kernel_.fd(), &answer, sizeof answer, MSG_DONTWAIT);
  if (got < ssize_t{sizeof answer.header + sizeof answer.socket} ||
      answer.header.nlmsg_type != SOCK_DIAG_BY_FAMILY)
    return std::nullopt;
  return answer.socket.idiag_uid;
}

}  // namespace gpuprof::launcher
