import { addError, collectError } from '../../model/collect-error.ts'
import { readAccounts } from './accounts.ts'
import { toOpId } from './bytes.ts'
import type { SolanaClient } from './client.ts'
import type { Depth } from './heads.ts'
import { type Marker, type MarkerKind, toMarker } from './marker.ts'
import { isSame, type MarkerTransaction } from './marker-creation.ts'
import { createHistorySearch } from './marker-history.ts'
import { remember } from './memory.ts'
import { type FindSigned, findAllSigned, findAmongSigned } from './signed-payments.ts'

/** One payment of one op: at most one transaction ever creates one of its markers. */
export type MarkerRef = { kind: MarkerKind; id: string; base: string }
export type Creation = MarkerTransaction

type At = { commitment: Depth; minContextSlot?: bigint }
type Creations = Map<MarkerRef, Creation | undefined>

export type MarkerBook = {
  /**
   * Finds the transaction that made each payment; undefined if none did. A payment that cannot be read is left out, and
   * its error is added to `faults`; without `faults` it is thrown.
   */
  findCreations(refs: readonly MarkerRef[], at: At, faults?: unknown[]): Promise<Creations>
  /** The cached creation, without asking the nodes. */
  recall(ref: MarkerRef): Creation | undefined
  /** The generation to pay with; undefined if the payment was made. */
  nextGeneration(ref: MarkerRef): Promise<number | undefined>
}

// A stranger who blocks a marker pays its rent, and can block this many only after as many signed payments expired.
const MAX_GENERATIONS = 16

/**
 * Finds payments by their markers. An existing marker proves little, since anyone may fund a known address: its
 * creation is looked up.
 */
export function createMarkerBook(
  client: SolanaClient,
  key: Uint8Array,
  findSigned: FindSigned | undefined,
): MarkerBook {
  const markerOf = createMarkerMemory(key)
  const creations = createCreationMemory(client, markerOf)

  /** Reads the record once per payment: a transaction shows its own generation. */
  function signedFor(refs: readonly MarkerRef[], at: At, generation: number) {
    const unknown = generation > 0 ? [] : refs.filter((ref) => !creations.has(ref, at))
    return findAllSigned(findSigned, unknown)
  }

  /** Checks one generation for all; payments whose marker exists without a creation move to the next. */
  async function findIn(refs: readonly MarkerRef[], at: At, generation: number, faults?: unknown[]) {
    const all = await Promise.all(refs.map(async (ref) => ({ ref, marker: await markerOf(ref, generation) })))
    const addresses = all.map(({ marker }) => marker.address)
    const accounts = await readAccounts(client, { addresses, ...at })
    const present = all.filter((_, index) => accounts[index])
    const found: Creations = new Map(refs.filter((_, i) => !accounts[i]).map((ref) => [ref, undefined]))
    const there = present.map(({ ref }) => ref)
    const signed = await signedFor(there, at, generation)
    const blocked: MarkerRef[] = []
    const look = async ({ ref, marker }: (typeof all)[number]) => {
      const creation = await creations.find(ref, marker, at, signed.get(ref))
      if (creation || ref.kind === 'input') found.set(ref, creation)
      else blocked.push(ref)
    }
    await Promise.all(present.map((each) => collectError(faults, () => look(each))))
    return { found, blocked }
  }

  return {
    async findCreations(refs, at, faults) {
      const found: Creations = new Map(creations.recallFinal(refs))
      for (const ref of refs) if (!found.has(ref) && creations.isAfter(ref, at)) found.set(ref, undefined)
      let open: readonly MarkerRef[] = refs.filter((ref) => !found.has(ref))
      for (let generation = 0; open.length > 0 && generation < MAX_GENERATIONS; generation += 1) {
        const round = await findIn(open, at, generation, faults)
        for (const [ref, creation] of round.found) found.set(ref, creation)
        open = round.blocked
      }
      for (const ref of open) addError(faults, tooManyFunded(ref))
      return found
    },
    recall: creations.recall,
    async nextGeneration(ref) {
      const at = { commitment: 'confirmed' } as const
      for (let generation = 0; generation < MAX_GENERATIONS; generation += 1) {
        const marker = await markerOf(ref, generation)
        const [account] = await readAccounts(client, { addresses: [marker.address], ...at })
        if (!account) return generation
        const signed = await signedFor([ref], at, generation)
        if (await creations.find(ref, marker, at, signed.get(ref))) return undefined
      }
      throw tooManyFunded(ref)
    },
  }
}

/** Finds creations by arbitrary keys, without those that cannot be read. */
export async function findEach<T>(
  book: Pick<MarkerBook, 'findCreations'>,
  refs: ReadonlyMap<T, MarkerRef>,
  at: At,
  faults: unknown[] | undefined,
): Promise<Map<T, Creation | undefined>> {
  const found = await book.findCreations([...refs.values()], at, faults)
  return new Map([...refs].flatMap(([of, ref]) => (found.has(ref) ? [[of, found.get(ref)]] : [])))
}

type MarkerOf = (ref: MarkerRef, generation: number) => Promise<Marker>

function createMarkerMemory(key: Uint8Array): MarkerOf {
  const markers = new Map<string, Promise<Marker>>()
  return (ref, generation) =>
    remember(markers, `${nameOf(ref)}:${generation}`, () =>
      toMarker({ key, base: ref.base, kind: ref.kind, opHash: ref.id, generation }),
    )
}

/** Caches creations by commitment: one found as confirmed is looked up again as finalized. */
function createCreationMemory(client: SolanaClient, markerOf: MarkerOf) {
  const created = new Map<string, Creation>()
  const searchHistory = createHistorySearch(client)

  async function isOf(ref: MarkerRef, made: Marker): Promise<boolean> {
    // An input has no second generation: the wallet signed for the first.
    const generations = ref.kind === 'input' ? 1 : MAX_GENERATIONS
    for (let generation = 0; generation < generations; generation += 1)
      if (isSame(made, await markerOf(ref, generation))) return true
    return false
  }

  /** Searches the record first: strangers can lengthen a history, but not the record. */
  async function search(ref: MarkerRef, marker: Marker, { commitment }: At, signed: readonly string[]) {
    const of = { opId: toOpId(ref.id), commitment }
    const isOurs = (made: Marker) => isOf(ref, made)
    const recorded = await findAmongSigned(client, { ...of, base: ref.base, txHashes: signed, isOurs })
    return recorded ?? (await searchHistory({ ...of, marker }))
  }

  return {
    async find(ref: MarkerRef, marker: Marker, at: At, signed: readonly string[] = []) {
      const name = `${nameOf(ref)}:${at.commitment}`
      const same = created.get(name)
      if (same) return same
      const known = created.get(`${nameOf(ref)}:confirmed`)
      const found = await search(ref, marker, at, known ? [known.txHash, ...signed] : signed)
      return found && remember(created, name, () => found)
    },
    has: (ref: MarkerRef, { commitment }: At) => created.has(`${nameOf(ref)}:${commitment}`),
    recall(ref: MarkerRef): Creation | undefined {
      return created.get(`${nameOf(ref)}:finalized`) ?? created.get(`${nameOf(ref)}:confirmed`)
    },
    /** Whether the payment is known to be after this slot, and so not final at it. */
    isAfter(ref: MarkerRef, { commitment, minContextSlot }: At): boolean {
      if (commitment !== 'finalized' || minContextSlot === undefined) return false
      const known = created.get(`${nameOf(ref)}:confirmed`)
      return known !== undefined && known.slot > minContextSlot
    },
    /** Finalized creations never change and need no further reading. */
    recallFinal(refs: readonly MarkerRef[]): [MarkerRef, Creation][] {
      return refs.flatMap((ref) => {
        const known = created.get(`${nameOf(ref)}:finalized`)
        return known ? [[ref, known]] : []
      })
    },
  }
}

const nameOf = ({ kind, id }: MarkerRef) => `${kind}:${id}`

const tooManyFunded = ({ kind, id }: MarkerRef) =>
  new Error(`Strangers fund the markers of the ${kind} of ${id}`)
