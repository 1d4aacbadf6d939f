/** Whether somebody sends the input to the op's own address, and the wallet signs nothing. */
export const isSent = (method?: string) => method === 'deposit' || method === 'transfer'
