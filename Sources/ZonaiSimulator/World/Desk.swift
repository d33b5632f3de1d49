import ZonaiHTTP
import ZonaiJSON

/// Hands a lane's answer out, or what a scripted fault makes of it; counts it, and fills the inbox.
struct Desk {
  let world: World
  let lane: Lane

  func settle(_ exchange: ServerExchange, token: String?, reply: Reply, fault: Fault?) {
    var reply = reply
    if let scripted = fault?.response {
      reply = Reply(response: scripted, label: "\(scripted.status) scripted", delivers: scripted.status == 200)
    }
    let action = fault?.action
    let isLost =
      switch action {
      case .goaway: fault?.handlesThis != true
      case .reset, .drop, .close, .cut, .silence: true
      case .streamLimit, nil: false
      }
    if fault?.delivers ?? (reply.delivers && !isLost), let token {
      keep(exchange.request, token: token, isJudged: fault == nil)
    }
    world.tally.answered(lane, isLost ? action?.rawValue ?? "" : reply.label)
    guard let fault else { return exchange.respond(reply.response) }
    if fault.delayMilliseconds > 0 {
      exchange.wait(milliseconds: fault.delayMilliseconds) { perform(fault, reply, on: exchange) }
    } else {
      perform(fault, reply, on: exchange)
    }
  }

  private func perform(_ fault: Fault, _ reply: Reply, on exchange: ServerExchange) {
    switch fault.action {
    case .goaway:
      exchange.goAway(
        errorCode: fault.errorCode ?? 0, debugData: fault.debugData, handlingThis: fault.handlesThis)
      exchange.respond(reply.response)
    // INTERNAL_ERROR says nothing about whether the request was handled, which is the harder case.
    case .reset: exchange.reset(errorCode: fault.errorCode ?? 2)
    case .drop: exchange.connection.drop()
    case .close: exchange.connection.close()
    case .cut: exchange.respond(reply.response, cutAfter: fault.bodyBytes)
    case .silence: break
    case .streamLimit:
      exchange.connection.limitStreams(to: fault.streams)
      exchange.respond(reply.response)
    case nil: exchange.respond(reply.response)
    }
  }

  private func keep(_ request: ServerRequest, token: String, isJudged: Bool) {
    var body = request.body
    // A scripted 200 may answer what is no JSON; the inbox shows that as text.
    if !isJudged, (try? JSON(parsing: body)) == nil {
      body = JSON.string(String(decoding: request.body, as: UTF8.self)).bytes
    }
    world.inbox.add(
      Inbox.Message(lane: lane, token: token, receivedAt: world.clock.now, headers: request.headers, body: body))
  }
}
