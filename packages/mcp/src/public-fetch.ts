import { lookup } from 'node:dns'
import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { BlockList, isIP, type LookupFunction } from 'node:net'
import { Readable } from 'node:stream'
import { UserError } from '@geoswap/wallet/errors'

// The last three carry an IPv4 address, which a gateway may reach: NAT64 and 6to4.
const PRIVATE = `
  0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24 192.168.0.0/16
  198.18.0.0/15 224.0.0.0/4 240.0.0.0/4
  ::/128 ::1/128 fc00::/7 fe80::/10 fec0::/10 ff00::/8
  64:ff9b::/96 64:ff9b:1::/48 2002::/16`

const blocked = new BlockList()
for (const subnet of PRIVATE.trim().split(/\s+/)) {
  const [net = '', prefix] = subnet.split('/')
  blocked.addSubnet(net, Number(prefix), net.includes(':') ? 'ipv6' : 'ipv4')
}

/** Whether the address belongs to this machine, or to a network that strangers cannot reach. */
export function isPrivate(address: string): boolean {
  const version = isIP(address)
  return version === 0 || blocked.check(address, version === 6 ? 'ipv6' : 'ipv4')
}

/**
 * A fetch that connects to public addresses alone: each connection goes to an address that was checked for it, so that
 * a name cannot change in between. It follows no redirect.
 */
export function createPublicFetch(isRefused: (address: string) => boolean = isPrivate): typeof fetch {
  const find: LookupFunction = (host, options, done) => {
    lookup(host, { ...options, all: true }, (error, found) => {
      const [first] = found ?? []
      if (error || !first) return done(error ?? refusal(host), [])
      if (found.some(({ address }) => isRefused(address))) return done(refusal(host), [])
      return options.all ? done(null, found) : done(null, first.address, first.family)
    })
  }
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input)
    // No lookup is made for an address.
    const host = url.hostname.replace(/^\[|\]$/g, '')
    if (isIP(host) !== 0 && isRefused(host)) throw refusal(host)
    const { method, headers, body, signal } = new Request(url, init)
    const sent = body === null ? undefined : await new Response(body).text()
    const request = url.protocol === 'http:' ? requestHttp : requestHttps
    const options = { method, headers: Object.fromEntries(headers), signal, lookup: find, agent: false }
    return new Promise((resolve, reject) => {
      request(url, options, (message) => {
        const { statusCode: status = 0, rawHeaders } = message
        const pairs = rawHeaders.flatMap((name, at): [string, string][] =>
          at % 2 === 0 ? [[name, rawHeaders[at + 1] ?? '']] : [],
        )
        try {
          const isEmpty = [204, 205, 304].includes(status)
          const answer = isEmpty ? null : (Readable.toWeb(message) as ReadableStream<Uint8Array>)
          if (isEmpty) message.resume()
          resolve(new Response(answer, { status, headers: pairs }))
        } catch (error) {
          message.destroy()
          reject(error)
        }
      })
        .on('error', reject)
        .end(sent)
    })
  }
}

function refusal(host: string): UserError {
  return new UserError('INSECURE_URL', `A model requests no address of a private network: ${host}.`)
}
