/** One thing that wakes work. Every sleeper also looks by its own timer, so that a lost wake-up only delays. */
type Wake = {
  when: string
  /** The functions of triggers, or the files below `src`, that write it. */
  by: readonly string[]
  /** The files below `src` of those that it wakes, and what each then does. */
  wakes: Readonly<Record<string, string>>
}

/** Notifications of PostgreSQL, by their channel: they reach all processes. */
export const CHANNELS = {
  swap_work: {
    when: 'Work of a lane is there. The payload is one of the topics below.',
    by: ['announce_swap', 'announce_attestation', 'announce_signature'],
    wakes: { 'compose/worker.ts': 'wakes the tasks of its lanes with this topic' },
  },
  swap_terminal: {
    when: 'What a caller sees of a swap has ended, or changed after its end. The payload is its id.',
    by: ['announce_swap'],
    wakes: { 'compose/api.ts': 'ends held reads of its status, and reads for its streams' },
  },
  chain_view: {
    when: 'The follower of a chain stored a view. The payload is the chain and the version.',
    by: ['store/chain-views.ts'],
    wakes: { 'compose/views.ts': 'reads a view that it lacks, and wakes `head` and `prices`' },
  },
  lanes: {
    when: 'Lanes are free, or a process asks for the lane in the payload.',
    by: ['store/lanes.ts'],
    wakes: { 'compose/worker.ts': 'takes free lanes, or hands its own over' },
  },
  api_keys: {
    when: 'Keys or limits of an account changed, or the operator froze a wallet.',
    by: ['notify_api_keys'],
    wakes: { 'compose/api.ts': 'reads keys and limits again' },
  },
  quote_stops: {
    when: 'Quotes were stopped or resumed.',
    by: ['notify_quote_stops'],
    wakes: { 'compose/api.ts': 'reads the stops again' },
  },
  screening_overrides: {
    when: 'The operator decided about an address.',
    by: ['notify_screening_overrides'],
    wakes: { 'compose/screening.ts': 'reads these decisions again' },
  },
} as const satisfies Record<string, Wake>

export type Channel = keyof typeof CHANNELS

/** Topics that wake tasks of the lanes of one worker. */
export const TOPICS = {
  'lock:<chain>:<locker>': {
    when: 'A swap of this locker was accepted, or a reorg undid its deposit and it was accepted again.',
    by: ['announce_swap'],
    wakes: {
      'compose/worker-lanes.ts': 'locks the inputs that wait for the key',
      'compose/following.ts': 'polls the chain and its prices more often',
    },
  },
  'deliver:<chain>': {
    when: 'A swap to this chain is locked.',
    by: ['announce_swap'],
    wakes: {
      'compose/worker-lanes.ts': 'delivers it, or decides to refund it',
      'compose/following.ts': 'polls the chain more often',
    },
  },
  'relay:<chain>': {
    when: 'An outcome was proposed, or an attester signed one.',
    by: ['announce_attestation', 'announce_signature'],
    wakes: { 'compose/worker-lanes.ts': 'sends claims and refunds' },
  },
  'head:<chain>': {
    when: 'The view of a chain has another head.',
    by: ['compose/worker.ts'],
    wakes: {
      'engine/watch.ts': 'stores events, and moves swaps by them',
      'engine/sending.ts': 'follows up on the transactions of a key',
      'engine/chain-follower.ts': 'reads the parts of the view that are due',
      'engine/books.ts': 'books the gas that was spent',
      'stages/settle/propose.ts': 'proposes outcomes',
      'compose/following.ts': 'keeps the ledger',
      'stages/lock/see-deposits.ts': 'looks for deposits',
    },
  },
  prices: {
    when: 'The view of a chain has newer prices.',
    by: ['compose/worker.ts'],
    wakes: { 'compose/worker-lanes.ts': 'locks inputs that waited for a price' },
  },
  'announced:<chain>': {
    when: 'A node announced a head, or the next poll is due.',
    by: ['compose/following.ts', 'engine/chain-follower.ts'],
    wakes: { 'engine/chain-follower.ts': 'polls the head' },
  },
  'deposits:<chain>': {
    when: 'An amount at the address of a swap is new.',
    by: ['stages/lock/see-deposits.ts'],
    wakes: { 'stages/lock/see-deposits.ts': 'finds the transaction of the deposit' },
  },
  'screening:<chain>': {
    when: 'A whole deposit is there, and nobody knows yet whether its parties are served.',
    by: ['stages/lock/see-deposits.ts'],
    wakes: { 'stages/lock/see-deposits.ts': 'decides about it, and wakes `head`' },
  },
  refused: {
    when: 'Every node refused a transaction of the key.',
    by: ['engine/sending.ts'],
    wakes: { 'engine/sending.ts': 'follows up before the next head' },
  },
  'followed:<work>': {
    when: 'The key has followed up, and something was left to send.',
    by: ['engine/sending.ts'],
    wakes: { 'engine/sending.ts': 'sends what was left' },
  },
} as const satisfies Record<string, Wake>

type Filled<Pattern> = Pattern extends `${infer Before}<${infer Name}>${infer After}`
  ? `${Before}${Name extends 'locker' ? string : number}${Filled<After>}`
  : Pattern

/** A topic of the table, such as `head:31337`. */
export type Topic = Filled<keyof typeof TOPICS>
