/** The last round of a price feed, as its contract tells it: nothing is judged yet. */
export type FeedRound = { answer: bigint; decimals: number; updatedAt: bigint }

/** The rounds of a chain's feeds by address, with the chain's own time. A feed that gave no answer is missing. */
export type FeedRounds = { seconds: bigint; rounds: ReadonlyMap<string, FeedRound> }
