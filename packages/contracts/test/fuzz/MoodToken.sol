// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @dev A token that is honest until its mood changes. It accepts every EIP-3009 and EIP-2612 signature.
contract MoodToken {
    enum Mood { Honest, ReturnsNothing, ReturnsFalse, Reverts, TakesFee, BurnsGas, ReturnsMuch, CallsBack, Lies }

    event Transfer(address indexed from, address indexed to, uint256 amount);

    Mood public mood;
    address public target;
    bytes public data;
    mapping(address holder => uint256) private _balances;
    mapping(address holder => mapping(address spender => uint256)) public allowance;
    /// @dev Amounts it said it had moved, and had not.
    mapping(address holder => uint256) public pretended;

    function setMood(Mood mood_) external {
        mood = mood_;
    }

    function setCall(address target_, bytes calldata data_) external {
        (target, data) = (target_, data_);
    }

    function mint(address to, uint256 amount) external {
        _balances[to] += amount;
    }

    function balanceOf(address holder) external view returns (uint256) {
        return _balances[holder];
    }

    function approve(address spender, uint256 amount) external {
        allowance[msg.sender][spender] = amount;
    }

    function permit(address owner, address spender, uint256 value, uint256, uint8, bytes32, bytes32) external {
        allowance[owner][spender] = value;
    }

    function transfer(address to, uint256 amount) external {
        _move(msg.sender, to, amount);
    }

    function transferFrom(address from, address to, uint256 amount) external {
        allowance[from][msg.sender] -= amount;
        _move(from, to, amount);
    }

    function receiveWithAuthorization(address from, address to, uint256 value, uint256, uint256, bytes32, bytes calldata)
        external
    {
        _move(from, to, value);
    }

    /// @dev More than any limit that the contracts set.
    function _burnGas() private view {
        uint256 end = gasleft() > 300_000 ? gasleft() - 300_000 : 0;
        while (gasleft() > end) {}
    }

    /// @dev Ends the call with what the mood returns.
    function _move(address from, address to, uint256 amount) private {
        Mood now_ = mood;
        if (now_ == Mood.Reverts) revert("no");
        if (now_ == Mood.BurnsGas) _burnGas();
        if (now_ == Mood.CallsBack) {
            (bool ok,) = target.call{gas: gasleft() / 2}(data);
            ok;
        }
        if (now_ == Mood.Lies) pretended[from] += amount;
        if (now_ != Mood.ReturnsFalse && now_ != Mood.Lies) {
            uint256 fee = now_ == Mood.TakesFee ? amount / 100 + 1 : 0;
            _balances[from] -= amount;
            _balances[to] += amount < fee ? 0 : amount - fee;
            emit Transfer(from, to, amount);
        }
        uint256 size = now_ == Mood.ReturnsNothing ? 0 : now_ == Mood.ReturnsMuch ? 0x38000 : 32;
        uint256 word = now_ == Mood.ReturnsFalse ? 0 : 1;
        assembly {
            mstore(0, word)
            return(0, size)
        }
    }
}
