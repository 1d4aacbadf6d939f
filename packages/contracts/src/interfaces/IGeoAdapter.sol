// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title IGeoAdapter
/// @notice A stateless bridge from the vault to one venue that sells the output token.
interface IGeoAdapter {
    /// @notice Buys at least `amountOut` of `tokenOut` for `recipient`, and spends at most `maxIn` of `tokenIn`.
    /// @dev Called by the vault alone. A token input is pulled from the caller, who approved exactly `maxIn`; a native
    ///      input comes as value. What is not spent goes back to the caller in the same call. The zero address is native.
    /// @param tokenIn What the vault sells.
    /// @param maxIn The most that may be spent of it.
    /// @param tokenOut What the recipient gets.
    /// @param amountOut The least the recipient must get.
    /// @param recipient Who gets it.
    /// @param data What the venue needs to know, chosen by the deliverer.
    function buy(
        address tokenIn,
        uint256 maxIn,
        address tokenOut,
        uint256 amountOut,
        address recipient,
        bytes calldata data
    ) external payable;
}
