type Head = { number: bigint; hash: string }

const REMEMBERED = 256
const LOWER_FOR_BLOCKS = 3

/**
 * Decides whether to follow a head. Nodes behind a load balancer differ in height, so a lower head is ignored. It is
 * followed if its hash contradicts the one followed at that number, or if heads stay lower for three block times.
 */
export function createHeadOrder(blockMs: number) {
  const hashes = new Map<bigint, string>()
  let followed: Head | undefined
  let lowerSince: number | undefined

  function follow(head: Head): true {
    for (const number of [...hashes.keys()]) if (number >= head.number) hashes.delete(number)
    hashes.set(head.number, head.hash)
    const [oldest] = hashes.keys()
    if (hashes.size > REMEMBERED && oldest !== undefined) hashes.delete(oldest)
    followed = head
    lowerSince = undefined
    return true
  }

  return {
    accepts(head: Head, nowMs: number): boolean {
      if (!followed || head.number >= followed.number) return follow(head)
      const known = hashes.get(head.number)
      if (known !== undefined && known !== head.hash) return follow(head)
      lowerSince ??= nowMs
      return nowMs - lowerSince >= LOWER_FOR_BLOCKS * blockMs && follow(head)
    },
  }
}
