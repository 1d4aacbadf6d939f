/** The last round of a price feed as its contract returns it, not yet validated. */
export type FeedRound = { answer: bigint; decimals: number; updatedAt: bigint }

/** The rounds of a chain's feeds by address, with the chain's own time. Feeds that did not answer are missing. */
export type FeedRounds = { seconds: bigint; rounds: ReadonlyMap<string, FeedRound> }
